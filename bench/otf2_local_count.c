/*
 * otf2_local_count - counts the events of an archive with the C library, the fast way: one local reader per
 * location, on one thread, with callbacks that only count.
 *
 * The yardstick for partune's decoder, see decode.sh. ENTER and LEAVE have their own counters; every other
 * event goes to one callback per signature that the synthetic bench archives contain.
 *
 * Build: cc -O2 -o otf2_local_count otf2_local_count.c -lotf2
 */
#include <otf2/otf2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Locations {
    OTF2_LocationRef *refs;
    size_t used, room;
} Locations;

typedef struct Tally {
    uint64_t enter, leave, other, check;
} Tally;

static void need(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "otf2_local_count: %s\n", what);
        exit(1);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type,
                                     uint64_t events, OTF2_LocationGroupRef group)
{
    Locations *all = user;
    (void)name, (void)type, (void)events, (void)group;
    if (all->used == all->room) {
        all->room = all->room ? 2 * all->room : 64;
        all->refs = realloc(all->refs, all->room * sizeof *all->refs);
        need(all->refs != NULL, "out of memory");
    }
    all->refs[all->used++] = self;
    return OTF2_CALLBACK_SUCCESS;
}

/* The arguments that every event callback begins with. */
#define EVENT OTF2_LocationRef loc, OTF2_TimeStamp time, uint64_t pos, void *user, OTF2_AttributeList *attrs
#define UNUSED (void)loc, (void)pos, (void)attrs

static OTF2_CallbackCode on_enter(EVENT, OTF2_RegionRef region)
{
    Tally *tally = user;
    UNUSED;
    tally->enter++;
    tally->check ^= time + region;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(EVENT, OTF2_RegionRef region)
{
    Tally *tally = user;
    UNUSED;
    tally->leave++;
    tally->check ^= time + region;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode other(void *user, OTF2_TimeStamp time, uint64_t type)
{
    Tally *tally = user;
    tally->other++;
    tally->check ^= time + type;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_send(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes;
    return other(user, time, 14);
}

static OTF2_CallbackCode on_isend(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes, (void)request;
    return other(user, time, 15);
}

static OTF2_CallbackCode on_isend_complete(EVENT, uint64_t request)
{
    UNUSED, (void)request;
    return other(user, time, 16);
}

static OTF2_CallbackCode on_irecv_request(EVENT, uint64_t request)
{
    UNUSED, (void)request;
    return other(user, time, 17);
}

static OTF2_CallbackCode on_recv(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes;
    return other(user, time, 18);
}

static OTF2_CallbackCode on_irecv(EVENT, uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    UNUSED, (void)peer, (void)comm, (void)tag, (void)bytes, (void)request;
    return other(user, time, 19);
}

static OTF2_CallbackCode on_collective_begin(EVENT)
{
    UNUSED;
    return other(user, time, 22);
}

static OTF2_CallbackCode on_collective_end(EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                           uint64_t received)
{
    UNUSED, (void)op, (void)comm, (void)root, (void)sent, (void)received;
    return other(user, time, 23);
}

static OTF2_CallbackCode on_metric(EVENT, OTF2_MetricRef metric, uint8_t count, const OTF2_Type *types,
                                   const OTF2_MetricValue *values)
{
    UNUSED, (void)metric, (void)count, (void)types, (void)values;
    return other(user, time, 31);
}

static OTF2_EvtReaderCallbacks *callbacks(void)
{
    OTF2_EvtReaderCallbacks *all = OTF2_EvtReaderCallbacks_New();
    need(all != NULL, "no callbacks");
    OTF2_EvtReaderCallbacks_SetEnterCallback(all, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(all, on_leave);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(all, on_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(all, on_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(all, on_isend_complete);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(all, on_irecv_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(all, on_recv);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(all, on_irecv);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(all, on_collective_begin);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(all, on_collective_end);
    OTF2_EvtReaderCallbacks_SetMetricCallback(all, on_metric);
    return all;
}

static void read_global_definitions(OTF2_Reader *reader, Locations *locations)
{
    uint64_t read = 0;
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *all = OTF2_GlobalDefReaderCallbacks_New();
    need(definitions && all, "no global definitions");
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(all, on_location);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, all, locations);
    OTF2_GlobalDefReaderCallbacks_Delete(all);
    need(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read) == OTF2_SUCCESS, "broken global definitions");
    OTF2_Reader_CloseGlobalDefReader(reader, definitions);
}

int main(int argc, char **argv)
{
    Locations locations = { 0 };
    Tally tally = { 0 };
    uint64_t events = 0;

    need(argc == 2, "usage: otf2_local_count ARCHIVE.otf2");
    OTF2_Reader *reader = OTF2_Reader_Open(argv[1]);
    need(reader != NULL, "cannot open the archive");
    need(OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS, "no serial mode");
    read_global_definitions(reader, &locations);

    double start = seconds();
    OTF2_EvtReaderCallbacks *all = callbacks();
    for (size_t i = 0; i < locations.used; ++i) {
        OTF2_Reader_SelectLocation(reader, locations.refs[i]);
    }
    OTF2_Reader_OpenDefFiles(reader);
    OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < locations.used; ++i) {
        uint64_t read = 0;
        OTF2_DefReader *definitions = OTF2_Reader_GetDefReader(reader, locations.refs[i]);
        if (definitions) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &read);
            OTF2_Reader_CloseDefReader(reader, definitions);
        }
        OTF2_EvtReader *local = OTF2_Reader_GetEvtReader(reader, locations.refs[i]);
        if (!local) {
            continue;
        }
        OTF2_Reader_RegisterEvtCallbacks(reader, local, all, &tally);
        need(OTF2_Reader_ReadAllLocalEvents(reader, local, &read) == OTF2_SUCCESS, "broken events");
        OTF2_Reader_CloseEvtReader(reader, local);
        events += read;
    }
    double time = seconds() - start;
    printf("libotf2: %llu events, %.3f s, %.1f M events/s (enter %llu, leave %llu, other %llu, check %llx)\n",
           (unsigned long long)events, time, (double)events / time / 1e6, (unsigned long long)tally.enter,
           (unsigned long long)tally.leave, (unsigned long long)tally.other, (unsigned long long)tally.check);
    OTF2_EvtReaderCallbacks_Delete(all);
    OTF2_Reader_CloseDefFiles(reader);
    OTF2_Reader_CloseEvtFiles(reader);
    OTF2_Reader_Close(reader);
    free(locations.refs);
    return 0;
}
