/* Records the MPI calls and phases of ring.c as an OTF2 archive, with the C library: a second opinion on our reader.
 *
 * Link it with the program; it takes the place of the MPI calls that the program makes (PMPI). Only MPI_COMM_WORLD. The archive goes to
 * the folder in $ARCHIVE. All processes run on one machine, so they share a clock. */
#define _GNU_SOURCE
#include "phase.h"

#include <mpi.h>
#include <otf2/otf2.h>
#define OTF2_MPI_USE_PMPI /* or it would record itself */
#include <otf2/OTF2_MPI_Collectives.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CALLS(X) \
    X(MPI_Init, OTHER) X(MPI_Finalize, OTHER) X(MPI_Irecv, POINT2POINT) X(MPI_Isend, POINT2POINT) X(MPI_Waitall, POINT2POINT) \
    X(MPI_Allreduce, COLL_ALL2ALL) X(MPI_Bcast, COLL_ONE2ALL) X(MPI_Barrier, BARRIER)

#define OTF2_REGION_ROLE_OTHER OTF2_REGION_ROLE_FUNCTION
#define NUMBER(NAME, ROLE) N_##NAME,
enum { CALLS(NUMBER) N_CALLS };
#undef NUMBER

extern const Phase *const __start_phases[], *const __stop_phases[];
enum { WORLD = 0, LOCATIONS = 0, MEMBERS = 1, REQUESTS = 16 };

static OTF2_Archive*   archive;
static OTF2_EvtWriter* events;
static int             rank, size;
static uint64_t        begin, next_request = 1;
static struct { MPI_Request handle; uint64_t id; int peer, bytes, tag, receives; } open_requests[REQUESTS];

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void check(OTF2_ErrorCode code)
{
    if (code != OTF2_SUCCESS) {
        fprintf(stderr, "recorder: %s\n", OTF2_Error_GetDescription(code));
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void enter(uint32_t region) { check(OTF2_EvtWriter_Enter(events, NULL, now(), region)); }
static void leave(uint32_t region) { check(OTF2_EvtWriter_Leave(events, NULL, now(), region)); }
static uint32_t region_of(const Phase* const* phase) { return N_CALLS + (uint32_t)(phase - __start_phases); }

void phase_enter(const Phase* const* phase) { enter(region_of(phase)); }
void phase_leave(const Phase* const* phase) { leave(region_of(phase)); }

static OTF2_FlushType before_flush(void* u, OTF2_FileType t, OTF2_LocationRef l, void* c, bool f)
{
    (void)u; (void)t; (void)l; (void)c; (void)f;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp after_flush(void* u, OTF2_FileType t, OTF2_LocationRef l)
{
    (void)u; (void)t; (void)l;
    return now();
}

static const OTF2_FlushCallbacks flush = { before_flush, after_flush };

int MPI_Init(int* argc, char*** argv)
{
    uint64_t start = now();
    int result = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    const char* folder = getenv("ARCHIVE");
    archive = OTF2_Archive_Open(folder ? folder : "archive", "traces", OTF2_FILEMODE_WRITE, 1 << 18, 1 << 18,
                                OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!archive) PMPI_Abort(MPI_COMM_WORLD, 1);
    check(OTF2_Archive_SetFlushCallbacks(archive, &flush, NULL));
    check(OTF2_MPI_Archive_SetCollectiveCallbacks(archive, MPI_COMM_WORLD, MPI_COMM_NULL));
    check(OTF2_Archive_SetCreator(archive, "partune examples/ring"));
    check(OTF2_Archive_OpenEvtFiles(archive));
    events = OTF2_Archive_GetEvtWriter(archive, (uint64_t)rank);
    PMPI_Allreduce(&start, &begin, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    check(OTF2_EvtWriter_Enter(events, NULL, start, N_MPI_Init));
    leave(N_MPI_Init);
    return result;
}

static uint32_t strings;

static uint32_t string(OTF2_GlobalDefWriter* defs, const char* text)
{
    check(OTF2_GlobalDefWriter_WriteString(defs, strings, text));
    return strings++;
}

static void define(uint64_t end, const uint64_t* counts)
{
    OTF2_GlobalDefWriter* defs = OTF2_Archive_GetGlobalDefWriter(archive);
    check(OTF2_GlobalDefWriter_WriteClockProperties(defs, 1000000000, begin, end - begin + 1, OTF2_UNDEFINED_TIMESTAMP));
    uint32_t none = string(defs, ""), node = string(defs, "node");
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(defs, 0, node, node, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    uint32_t region = 0;
#define DEFINE(NAME, ROLE)                                                                                                       \
    {                                                                                                                            \
        uint32_t name = string(defs, #NAME);                                                                                     \
        check(OTF2_GlobalDefWriter_WriteRegion(defs, region++, name, name, none, OTF2_REGION_ROLE_##ROLE, OTF2_PARADIGM_MPI,     \
                                               OTF2_REGION_FLAG_NONE, none, 0, 0));                                              \
    }
    CALLS(DEFINE)
    for (const Phase* const* phase = __start_phases; phase < __stop_phases; ++phase) {
        uint32_t name = string(defs, (*phase)->name), file = string(defs, (*phase)->file);
        check(OTF2_GlobalDefWriter_WriteRegion(defs, region_of(phase), name, name, none, OTF2_REGION_ROLE_CODE, OTF2_PARADIGM_USER,
                                               OTF2_REGION_FLAG_NONE, file, (*phase)->line, 0));
    }
    uint64_t members[size];
    for (int i = 0; i < size; ++i) {
        char text[32];
        snprintf(text, sizeof text, "rank %d", i);
        uint32_t name = string(defs, text);
        check(OTF2_GlobalDefWriter_WriteLocationGroup(defs, (uint32_t)i, name, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                      OTF2_UNDEFINED_LOCATION_GROUP));
        check(OTF2_GlobalDefWriter_WriteLocation(defs, (uint64_t)i, name, OTF2_LOCATION_TYPE_CPU_THREAD, counts[i], (uint32_t)i));
        members[i] = (uint64_t)i;
    }
    check(OTF2_GlobalDefWriter_WriteGroup(defs, LOCATIONS, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, (uint32_t)size, members));
    check(OTF2_GlobalDefWriter_WriteGroup(defs, MEMBERS, none, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
                                          (uint32_t)size, members));
    check(OTF2_GlobalDefWriter_WriteComm(defs, WORLD, string(defs, "MPI_COMM_WORLD"), MEMBERS, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    check(OTF2_Archive_CloseGlobalDefWriter(archive, defs));
}

int MPI_Finalize(void)
{
    enter(N_MPI_Finalize);
    PMPI_Barrier(MPI_COMM_WORLD);
    leave(N_MPI_Finalize);
    uint64_t count, last = now(), end, counts[size];
    check(OTF2_EvtWriter_GetNumberOfEvents(events, &count));
    check(OTF2_Archive_CloseEvtWriter(archive, events));
    check(OTF2_Archive_CloseEvtFiles(archive));
    check(OTF2_Archive_OpenDefFiles(archive));
    check(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, (uint64_t)rank)));
    check(OTF2_Archive_CloseDefFiles(archive));
    PMPI_Gather(&count, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    PMPI_Reduce(&last, &end, 1, MPI_UINT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) define(end, counts);
    check(OTF2_Archive_Close(archive));
    return PMPI_Finalize();
}

static void remember(MPI_Request handle, int peer, int bytes, int tag, int receives)
{
    int i = 0;
    while (open_requests[i].id) ++i; /* the program has four at most */
    open_requests[i].handle = handle;
    open_requests[i].id = next_request++;
    open_requests[i].peer = peer;
    open_requests[i].bytes = bytes;
    open_requests[i].tag = tag;
    open_requests[i].receives = receives;
}

int MPI_Irecv(void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request)
{
    int bytes;
    enter(N_MPI_Irecv);
    check(OTF2_EvtWriter_MpiIrecvRequest(events, NULL, now(), next_request));
    int result = PMPI_Irecv(data, count, type, peer, tag, comm, request);
    PMPI_Type_size(type, &bytes);
    remember(*request, peer, bytes * count, tag, 1);
    leave(N_MPI_Irecv);
    return result;
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request)
{
    int bytes;
    enter(N_MPI_Isend);
    PMPI_Type_size(type, &bytes);
    check(OTF2_EvtWriter_MpiIsend(events, NULL, now(), (uint32_t)peer, WORLD, (uint32_t)tag, (uint64_t)(bytes * count), next_request));
    int result = PMPI_Isend(data, count, type, peer, tag, comm, request);
    remember(*request, peer, bytes * count, tag, 0);
    leave(N_MPI_Isend);
    return result;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses)
{
    enter(N_MPI_Waitall);
    MPI_Request handles[REQUESTS];
    for (int i = 0; i < count; ++i) handles[i] = requests[i];
    int result = PMPI_Waitall(count, requests, statuses);
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < REQUESTS; ++k) {
            if (!open_requests[k].id || open_requests[k].handle != handles[i]) continue;
            if (open_requests[k].receives)
                check(OTF2_EvtWriter_MpiIrecv(events, NULL, now(), (uint32_t)open_requests[k].peer, WORLD,
                                              (uint32_t)open_requests[k].tag, (uint64_t)open_requests[k].bytes, open_requests[k].id));
            else
                check(OTF2_EvtWriter_MpiIsendComplete(events, NULL, now(), open_requests[k].id));
            open_requests[k].id = 0;
            break;
        }
    }
    leave(N_MPI_Waitall);
    return result;
}

#define COLLECTIVE(NAME, OP, ROOT, SENT, RECEIVED, CALL)                                                                     \
    enter(N_##NAME);                                                                                                         \
    check(OTF2_EvtWriter_MpiCollectiveBegin(events, NULL, now()));                                                           \
    int result = CALL;                                                                                                       \
    check(OTF2_EvtWriter_MpiCollectiveEnd(events, NULL, now(), OTF2_COLLECTIVE_OP_##OP, WORLD, ROOT, SENT, RECEIVED));       \
    leave(N_##NAME);                                                                                                         \
    return result;

static uint64_t bytes_of(int count, MPI_Datatype type)
{
    int bytes;
    PMPI_Type_size(type, &bytes);
    return (uint64_t)bytes * (uint64_t)count;
}

int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    uint64_t bytes = bytes_of(count, type) * (uint64_t)size;
    COLLECTIVE(MPI_Allreduce, ALLREDUCE, OTF2_UNDEFINED_UINT32, bytes, bytes, PMPI_Allreduce(out, in, count, type, op, comm))
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    uint64_t bytes = bytes_of(count, type);
    COLLECTIVE(MPI_Bcast, BCAST, (uint32_t)root, rank == root ? bytes * (uint64_t)size : 0, bytes, PMPI_Bcast(data, count, type, root, comm))
}

int MPI_Barrier(MPI_Comm comm)
{
    COLLECTIVE(MPI_Barrier, BARRIER, OTF2_UNDEFINED_UINT32, 0, 0, PMPI_Barrier(comm))
}
