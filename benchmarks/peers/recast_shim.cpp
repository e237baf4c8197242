// What the benchmark asks of Recast and Detour, behind three functions that ctypes can call. Compiled by recast.py where
// the headers, the libraries and a compiler are there. Coordinates are Recast's: y is up.
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include <DetourCommon.h>
#include <DetourNavMesh.h>
#include <DetourNavMeshBuilder.h>
#include <DetourNavMeshQuery.h>
#include <Recast.h>

namespace {

const int MOST_POLYGONS = 4096;  // of a path
const int MOST_NODES = 65535;    // the largest pool that Detour knows

// Area of the polygons seen from above.
double area_of(const rcPolyMesh& mesh) {
    double twice = 0.0;
    for (int i = 0; i < mesh.npolys; ++i) {
        const unsigned short* polygon = &mesh.polys[i * 2 * mesh.nvp];
        int corners = 0;
        while (corners < mesh.nvp && polygon[corners] != RC_MESH_NULL_IDX) ++corners;
        double signed_twice = 0.0;
        for (int j = 0; j < corners; ++j) {
            const unsigned short* a = &mesh.verts[3 * polygon[j]];
            const unsigned short* b = &mesh.verts[3 * polygon[(j + 1) % corners]];
            signed_twice += (double)a[0] * b[2] - (double)b[0] * a[2];
        }
        twice += std::fabs(signed_twice);
    }
    return 0.5 * twice * mesh.cs * mesh.cs;
}

struct World {
    dtNavMesh* mesh = nullptr;
    dtNavMeshQuery* query = nullptr;
    ~World() {
        dtFreeNavMeshQuery(query);
        dtFreeNavMesh(mesh);
    }
};

}  // namespace

extern "C" {

struct Settings {
    float cell_size, cell_height, radius, height, climb, slope;
};

void recast_free(void* world) { delete static_cast<World*>(world); }

// The steps of Recast's own sample for one tile, with its default settings. Null when a step fails.
void* recast_build(const float* vertices, int vertex_count, const int* triangles, int triangle_count,
                   const Settings* settings, int* polygon_count, double* area) {
    rcContext context(false);
    rcConfig config;
    std::memset(&config, 0, sizeof config);
    config.cs = settings->cell_size;
    config.ch = settings->cell_height;
    config.walkableSlopeAngle = settings->slope;
    config.walkableHeight = (int)std::ceil(settings->height / config.ch);
    config.walkableClimb = (int)std::floor(settings->climb / config.ch);
    config.walkableRadius = (int)std::ceil(settings->radius / config.cs);
    config.maxEdgeLen = (int)(12.0f / config.cs);
    config.maxSimplificationError = 1.3f;
    config.minRegionArea = 8 * 8;
    config.mergeRegionArea = 20 * 20;
    config.maxVertsPerPoly = DT_VERTS_PER_POLYGON;
    config.detailSampleDist = 6.0f * config.cs;
    config.detailSampleMaxError = config.ch;
    rcCalcBounds(vertices, vertex_count, config.bmin, config.bmax);
    rcCalcGridSize(config.bmin, config.bmax, config.cs, &config.width, &config.height);

    std::unique_ptr<rcHeightfield, void (*)(rcHeightfield*)> solid(rcAllocHeightfield(), rcFreeHeightField);
    std::unique_ptr<rcCompactHeightfield, void (*)(rcCompactHeightfield*)> open(rcAllocCompactHeightfield(),
                                                                              rcFreeCompactHeightfield);
    std::unique_ptr<rcContourSet, void (*)(rcContourSet*)> contours(rcAllocContourSet(), rcFreeContourSet);
    std::unique_ptr<rcPolyMesh, void (*)(rcPolyMesh*)> polygons(rcAllocPolyMesh(), rcFreePolyMesh);
    std::unique_ptr<rcPolyMeshDetail, void (*)(rcPolyMeshDetail*)> detail(rcAllocPolyMeshDetail(),
                                                                         rcFreePolyMeshDetail);
    std::vector<unsigned char> areas(triangle_count, 0);
    if (!rcCreateHeightfield(&context, *solid, config.width, config.height, config.bmin, config.bmax, config.cs,
                             config.ch))
        return nullptr;
    rcMarkWalkableTriangles(&context, config.walkableSlopeAngle, vertices, vertex_count, triangles, triangle_count,
                            areas.data());
    if (!rcRasterizeTriangles(&context, vertices, vertex_count, triangles, areas.data(), triangle_count, *solid,
                              config.walkableClimb))
        return nullptr;
    rcFilterLowHangingWalkableObstacles(&context, config.walkableClimb, *solid);
    rcFilterLedgeSpans(&context, config.walkableHeight, config.walkableClimb, *solid);
    rcFilterWalkableLowHeightSpans(&context, config.walkableHeight, *solid);
    if (!rcBuildCompactHeightfield(&context, config.walkableHeight, config.walkableClimb, *solid, *open) ||
        !rcErodeWalkableArea(&context, config.walkableRadius, *open) || !rcBuildDistanceField(&context, *open) ||
        !rcBuildRegions(&context, *open, 0, config.minRegionArea, config.mergeRegionArea) ||
        !rcBuildContours(&context, *open, config.maxSimplificationError, config.maxEdgeLen, *contours) ||
        !rcBuildPolyMesh(&context, *contours, config.maxVertsPerPoly, *polygons) ||
        !rcBuildPolyMeshDetail(&context, *polygons, *open, config.detailSampleDist, config.detailSampleMaxError,
                               *detail))
        return nullptr;
    for (int i = 0; i < polygons->npolys; ++i) polygons->flags[i] = 1;

    dtNavMeshCreateParams params;
    std::memset(&params, 0, sizeof params);
    params.verts = polygons->verts;
    params.vertCount = polygons->nverts;
    params.polys = polygons->polys;
    params.polyAreas = polygons->areas;
    params.polyFlags = polygons->flags;
    params.polyCount = polygons->npolys;
    params.nvp = polygons->nvp;
    params.detailMeshes = detail->meshes;
    params.detailVerts = detail->verts;
    params.detailVertsCount = detail->nverts;
    params.detailTris = detail->tris;
    params.detailTriCount = detail->ntris;
    params.walkableHeight = settings->height;
    params.walkableRadius = settings->radius;
    params.walkableClimb = settings->climb;
    params.cs = config.cs;
    params.ch = config.ch;
    params.buildBvTree = true;
    dtVcopy(params.bmin, polygons->bmin);
    dtVcopy(params.bmax, polygons->bmax);
    unsigned char* data = nullptr;
    int size = 0;
    if (!dtCreateNavMeshData(&params, &data, &size)) return nullptr;
    std::unique_ptr<World> world(new World);
    world->mesh = dtAllocNavMesh();
    world->query = dtAllocNavMeshQuery();
    if (dtStatusFailed(world->mesh->init(data, size, DT_TILE_FREE_DATA))) {
        dtFree(data);
        return nullptr;
    }
    if (dtStatusFailed(world->query->init(world->mesh, MOST_NODES))) return nullptr;
    *polygon_count = polygons->npolys;
    *area = area_of(*polygons);
    return world.release();
}

// Length of the path from place to place: polygons, then pulled straight. Below 0 when an end is off the mesh (-1), no
// path leads to the goal (-2) or it was cut short (-3).
double detour_length(void* handle, const float* start, const float* goal) {
    const dtNavMeshQuery& query = *static_cast<World*>(handle)->query;
    const float reach[3] = {2.0f, 4.0f, 2.0f};
    static thread_local std::vector<dtPolyRef> corridor(MOST_POLYGONS);
    static thread_local std::vector<float> points(3 * MOST_POLYGONS);
    const dtQueryFilter filter;
    dtPolyRef first = 0, last = 0;
    float from[3], to[3];
    if (dtStatusFailed(query.findNearestPoly(start, reach, &filter, &first, from)) || !first) return -1.0;
    if (dtStatusFailed(query.findNearestPoly(goal, reach, &filter, &last, to)) || !last) return -1.0;
    int count = 0;
    dtStatus status = query.findPath(first, last, from, to, &filter, corridor.data(), &count, MOST_POLYGONS);
    if (dtStatusFailed(status) || !count || corridor[count - 1] != last) return -2.0;
    if (dtStatusDetail(status, DT_BUFFER_TOO_SMALL | DT_OUT_OF_NODES)) return -3.0;
    int corners = 0;
    status = query.findStraightPath(from, to, corridor.data(), count, points.data(), nullptr, nullptr, &corners,
                                    MOST_POLYGONS);
    if (dtStatusFailed(status) || dtStatusDetail(status, DT_BUFFER_TOO_SMALL)) return -3.0;
    double length = 0.0;
    for (int i = 1; i < corners; ++i) length += dtVdist(&points[3 * i - 3], &points[3 * i]);
    return length;
}

}  // extern "C"
