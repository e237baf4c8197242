"""The viewer: a level in the browser, with paths by clicking (extra ``[view]``, viser).

`session` holds what is done and shown, without a browser; `page` puts it into one. `level` and `layers` make what is
drawn, `scene` and `panel` are viser's part.
"""
