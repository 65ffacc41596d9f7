/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AUX areas of a session, driven by the simulated device: a million records through wraps, truncations,
 * collisions and cut records, and nothing is missing from the file without a flag that says so. The code
 * from the area's memory on is the one that serves real Arm SPE.
 *
 * The generator's samples are evenly spaced, so a record's time says its number.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aux_sim.h"
#include "da_decoder.h"
#include "da_session.h"
#include "folder.h"

#define TRUNCATED 1u
#define PARTIAL   4u
#define COLLISION 8u

static char dir[200], file[232];

static void make_dir(void)
{
	test_folder(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/f", dir);
}

static void remove_dir(void)
{
	unlink(file);
	rmdir(dir);
}

static void *must(void *p)
{
	ck_assert_ptr_nonnull(p);
	return p;
}

/* ---- a session ---- */

struct run {
	struct da_session *s;
	struct da_spec *specs;
	struct da_facts f;
	struct da_ledger l;
	int rc;
};

static void conserves(const struct da_session *s)
{
	struct da_ledger l = da_session_ledger(s);
	enum da_stage bad = 0;

	ck_assert_msg(da_ledger_conserves(&l, &bad), "layer %s does not conserve",
		      da_stage_name(bad));
}

/* Until so many records were decoded, or for half a second if `samples` is 0. */
static struct run run(const char *event, struct da_session_opts o, uint64_t samples)
{
	struct da_error err = {0};
	struct run r = {0};

	ck_assert_msg(!da_spec_parse(event, &r.specs, &o.nr_specs, NULL, 0, &err), "%s", err.msg);
	o.specs = r.specs;
	o.target = DA_TARGET_PID;
	o.ids = &(pid_t){getpid()};
	o.nr_ids = 1;
	o.output = file;
	ck_assert_msg(!da_session_new(&r.s, &o, &err), "%s", err.msg);
	r.rc = da_session_create(r.s, &err);
	if (!r.rc)
		r.rc = da_session_bind(r.s, &err);
	if (!r.rc)
		r.rc = da_session_enable(r.s, &err);
	for (int i = 0; !r.rc && (samples ? da_session_samples(r.s) < samples : i < 25); i++) {
		usleep(20000);
		conserves(r.s);
		if (i % 10 == 0)
			ck_assert_int_ge(da_session_tick(r.s, &err), 0);
	}
	ck_assert_msg(!da_session_stop(r.s, "duration", -1, &err), "%s", err.msg);
	ck_assert_int_eq(da_session_facts(r.s, &r.f), 0);
	conserves(r.s);
	r.l = da_session_ledger(r.s);
	return r;
}

static void done(struct run *r)
{
	da_facts_release(&r->f);
	da_session_free(r->s);
	free(r->specs);
}

/* ---- its file, CPU by CPU ---- */

struct told {
	uint64_t offset, size, flags;
};

struct stream {
	uint8_t *bytes;
	uint64_t len;
	struct told *told;
	size_t nr;
	uint64_t pieces;
};

#define MAX_CPUS 256

static struct stream streams[MAX_CPUS];
static bool info_seen, clock_seen;

static void take_piece(struct stream *s, const struct da_rec *rec)
{
	uint64_t at;

	ck_assert(info_seen && clock_seen); /* perf needs both before any trace data */
	memcpy(&at, rec->bytes + 16, 8);
	at += rec->payload_offset;
	/* the piece before may end with padding; nothing is ever left out */
	ck_assert_uint_le(at, s->len);
	ck_assert_uint_lt(s->len - at, 8);
	s->bytes = must(realloc(s->bytes, at + rec->payload_size + 1));
	memcpy(s->bytes + at, rec->payload, rec->payload_size);
	s->len = at + rec->payload_size;
	s->pieces += !rec->payload_offset;
}

static void take_told(struct stream *s, const struct da_rec *rec)
{
	struct da_rec_aux x;

	ck_assert(!da_rec_aux_parse(rec, &x));
	ck_assert(rec->has & DA_SAMPLE_TIME);
	if (!(s->nr & (s->nr - 1)))
		s->told = must(realloc(s->told, (s->nr * 2 + 1) * sizeof(*s->told)));
	s->told[s->nr++] = (struct told){x.offset, x.size, x.flags};
}

static void read_file(void)
{
	struct da_error err = {0};
	struct da_reader *rd;
	struct da_rec rec;
	uint32_t cpu;

	memset(streams, 0, sizeof(streams));
	info_seen = clock_seen = false;
	ck_assert_msg(!da_reader_open(&rd, file, &err), "%s", err.msg);
	while (da_reader_next(rd, &rec, &err) > 0) {
		switch (rec.type) {
		case DA_REC_TIME_CONV:
			ck_assert(!info_seen);
			clock_seen = true;
			break;
		case DA_REC_AUXTRACE_INFO:
			info_seen = true;
			break;
		case DA_REC_AUXTRACE:
			memcpy(&cpu, rec.bytes + 40, 4);
			ck_assert_uint_lt(cpu, MAX_CPUS);
			take_piece(&streams[cpu], &rec);
			break;
		case DA_REC_AUX:
			ck_assert_uint_lt(rec.cpu, MAX_CPUS);
			take_told(&streams[rec.cpu], &rec);
			break;
		default:
			ck_assert_int_ne(rec.type,
					 DA_REC_LOST); /* its ring must not be too small */
			break;
		}
	}
	ck_assert(!da_reader_info(rd)->damaged);
	da_reader_close(rd);
}

static void free_streams(void)
{
	for (size_t i = 0; i < MAX_CPUS; i++) {
		free(streams[i].bytes);
		free(streams[i].told);
	}
}

/* ---- what is missing, and was it said ---- */

struct checked {
	uint64_t step; /* ticks from one record to the next */
	uint64_t next; /* ticks that the next record should have; 0: any */
	uint64_t records, wrong, missing, missing_here, truncated, collisions, partial;
};

static void on_report(void *ctx, const struct da_report *r)
{
	struct checked *c = ctx;

	/* no assertion for each: libcheck writes every one of them into a pipe */
	c->wrong += !(r->has & DA_HAS_TICKS) || !(r->has & DA_HAS_VADDR);
	if (c->next) {
		c->wrong += r->time_ns < c->next || (r->time_ns - c->next) % c->step;
		c->missing_here += (r->time_ns - c->next) / c->step;
	}
	c->next = r->time_ns + c->step;
	c->records++;
}

static void on_record(void *ctx, unsigned nr, enum da_drop why)
{
	struct checked *c = ctx;

	c->wrong += !nr && why != DA_DROP_TRUNCATED;
}

static void check_stream(const struct stream *s, bool split, struct checked *c)
{
	const struct da_decoder *d = da_decoder_find("spe");
	const struct da_sink sink = {.report = on_report, .record = on_record, .ctx = c};
	struct da_decode_stats stats = {0};
	void *state = must(calloc(1, d->state_size));
	uint64_t from = 0, before = 0, end = 0;
	bool gap = false;

	c->next = 0;
	for (size_t i = 0; i < s->nr; i++) {
		const struct told *t = &s->told[i];
		uint64_t flags = t->flags | before, records = c->records;
		struct da_input in = {.bytes = s->bytes + from, .offset = from, .gap = gap};

		/* each AUX record goes on where the one before ended, but for padding */
		ck_assert_uint_ge(t->offset, end);
		ck_assert_uint_lt(t->offset - end, AUX_SIM_RECORD);
		end = t->offset + t->size;
		ck_assert_uint_le(end, s->len);
		in.len = (size_t)(end - from);
		c->missing_here = 0;
		from += d->decode(state, &in, &sink, &stats);
		gap = false;
		if (c->missing_here)
			ck_assert_msg(flags & (TRUNCATED | COLLISION | PARTIAL),
				      "%llu records missing before 0x%llx, and no flag",
				      (unsigned long long)c->missing_here, (unsigned long long)end);
		c->missing += c->missing_here;
		c->truncated += !!(t->flags & (TRUNCATED | PARTIAL));
		c->collisions += !!(t->flags & COLLISION);
		c->partial += !!(t->flags & PARTIAL);
		if (t->flags & PARTIAL) { /* as the decodes of ours do: what follows begins anew */
			from = end;
			gap = true;
		}
		/* a gap shows with the first record behind it, and where records are split that may
		 * be the second one from here */
		before = c->records - records > split ? t->flags : flags;
	}
	ck_assert_uint_eq(c->wrong, 0);
	ck_assert_uint_eq(stats.bad_bytes, 0);
	free(state);
}

static struct checked check_file(uint64_t rate, bool split)
{
	struct checked c = {.step = 100000000 / rate};

	read_file();
	for (size_t i = 0; i < MAX_CPUS; i++)
		check_stream(&streams[i], split, &c);
	free_streams();
	return c;
}

/* ---- tests ---- */

START_TEST(a_million_and_none_lost)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t all = _i ? 100000 : 1000000, each = (all + (uint64_t)cpus - 1) / (uint64_t)cpus;
	char event[96];
	struct checked c;
	struct run r;

	snprintf(event, sizeof(event), "spe/simulate,rate=1000000,count=%llu/",
		 (unsigned long long)each);
	r = run(event,
		(struct da_session_opts){.drain = _i ? DA_DRAIN_SINGLE : DA_DRAIN_PERCPU,
					 .aux_pages = 8192},
		each * (uint64_t)cpus);
	ck_assert_int_eq(r.rc, 0);
	c = check_file(1000000, false);
	ck_assert_uint_eq(c.records, each * (uint64_t)cpus);
	ck_assert_uint_eq(c.missing, 0);
	ck_assert_uint_eq(r.l.in[DA_STAGE_SAMPLE], c.records);
	ck_assert_uint_eq(r.l.out[DA_STAGE_SAMPLE], c.records);
	ck_assert_uint_eq(r.l.in[DA_STAGE_RING], c.records);
	ck_assert_uint_eq(r.l.drop[DA_DROP_RESIDENT], 0);
	ck_assert_uint_eq(r.l.out[DA_STAGE_MATCH] + r.l.drop[DA_DROP_OVERFLOW], c.records);
	ck_assert_int_eq(r.f.aux_truncated, 0);
	ck_assert_int_eq(r.f.aux_collisions, 0);
	ck_assert_int_eq(r.f.aux_off_ns, 0);
	ck_assert(r.f.events[0].aux && r.f.events[0].needs_aux);
	ck_assert(r.f.released_all && r.f.aux_before_event && r.f.disabled_before_drain);
	done(&r);
}
END_TEST

static const struct lossy {
	const char *terms;
	uint32_t aux_pages;
	uint64_t samples;
	bool split, collides, cuts;
} lossy[] = {
	{"", 4, 1000000, false, false, false},
	{",split", 4, 100000, true, false, false},
	{",collide=77", 4, 100000, false, true, false},
	{",cut=5", 4, 100000, false, false, true},
	{",collide=50,cut=3,split", 2, 100000, true, true, true},
};

START_TEST(no_loss_without_a_flag)
{
	const struct lossy *x = &lossy[_i];
	char event[128];
	struct checked c;
	struct run r;

	snprintf(event, sizeof(event), "spe/simulate,rate=1000000%s/", x->terms);
	r = run(event, (struct da_session_opts){.aux_pages = x->aux_pages}, x->samples);
	ck_assert_int_eq(r.rc, 0);
	c = check_file(1000000, x->split);
	ck_assert_uint_ge(c.records + r.l.drop[DA_DROP_TRUNCATED], x->samples);
	/* the area is too small on purpose: it wrapped, and it was full */
	ck_assert_uint_gt(c.truncated, 0);
	ck_assert_uint_gt(c.missing, 0);
	ck_assert_int_gt(r.f.aux_off_ns, 0);
	ck_assert_uint_eq(x->collides, c.collisions > 0);
	ck_assert_uint_eq(x->cuts, c.partial > 0);
	/* what the session counted is what the file says, and its live decode that of the file */
	ck_assert_int_eq(r.f.aux_truncated, (int64_t)c.truncated);
	ck_assert_int_eq(r.f.aux_collisions, (int64_t)c.collisions);
	ck_assert_uint_eq(r.l.out[DA_STAGE_SAMPLE], c.records);
	ck_assert_uint_eq(r.l.in[DA_STAGE_SAMPLE], c.records + r.l.drop[DA_DROP_TRUNCATED]);
	done(&r);
}
END_TEST

START_TEST(without_an_area)
{
	struct run r =
		run("spe/simulate,rate=100000/", (struct da_session_opts){.no_aux = true}, 0);

	ck_assert_int_eq(r.rc, 0);
	ck_assert_uint_eq(r.l.in[DA_STAGE_SAMPLE], 0);
	ck_assert(r.f.events[0].needs_aux && !r.f.events[0].aux);
	ck_assert_int_eq(r.f.events[0].cpus[0].state, DA_STATE_ENABLED);
	ck_assert_int_eq(r.f.aux_truncated, -1); /* there was nothing to be measured */
	done(&r);
}
END_TEST

START_TEST(refusals)
{
	static const struct {
		const char *event;
		enum da_stage stage;
		enum da_drop drop;
	} x[] = {
		{"spe/simulate,fail=create/", DA_STAGE_CREATE, DA_DROP_CREATE_NO_EVENT},
		{"spe/simulate,fail=bind/", DA_STAGE_BIND, DA_DROP_BIND_MLOCK},
		{"spe/simulate,fail=enable/", DA_STAGE_ENABLE, DA_DROP_ENABLE_REFUSED},
	};
	struct run r = run(x[_i].event, (struct da_session_opts){0}, 0);
	const struct da_facts_cpu *c = &r.f.events[0].cpus[0];

	ck_assert_int_lt(r.rc, 0);
	ck_assert_uint_eq(c->ledger.drop[x[_i].drop], 1);
	ck_assert_uint_eq(c->ledger.out[x[_i].stage], 0);
	done(&r);
}
END_TEST

static int attempt(const char *event, struct da_session_opts o, struct da_error *err,
		   struct da_session **s)
{
	struct da_spec *specs;
	int rc;

	ck_assert(!da_spec_parse(event, &specs, &o.nr_specs, NULL, 0, err));
	o.specs = specs;
	o.target = DA_TARGET_PID;
	o.ids = &(pid_t){getpid()};
	o.nr_ids = 1;
	ck_assert(!da_session_new(s, &o, err));
	rc = da_session_create(*s, err);
	free(specs);
	return rc;
}

/* SPE counts operations: no frequency, and a period as the PMU takes it. */
START_TEST(periods)
{
	static const struct {
		uint64_t asked, real;
	} x[] = {{0, 3840}, {1, 256}, {4000, 3840}, {4096, 4096}, {1ull << 40, 0xffffff00}};
	struct da_error err = {0};
	struct da_session *s;
	struct da_facts f;

	for (size_t i = 0; i < sizeof(x) / sizeof(*x); i++) {
		ck_assert_int_eq(attempt("spe/simulate/",
					 (struct da_session_opts){.period = x[i].asked}, &err, &s),
				 0);
		ck_assert_int_eq(da_session_facts(s, &f), 0);
		ck_assert_uint_eq(f.events[0].effective_period, x[i].real);
		ck_assert_uint_eq(f.events[0].attr.sample_period, x[i].real);
		da_facts_release(&f);
		da_session_free(s);
	}
	ck_assert_int_eq(attempt("spe/simulate/", (struct da_session_opts){.freq = 1000}, &err, &s),
			 -DA_EUNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(err.msg, "period"));
	da_session_free(s);
}
END_TEST

/* The interrupt comes as often as samples are wanted, and before the area is full. */
START_TEST(watermarks)
{
	static const uint64_t latency[] = {1, 10, 100000};
	uint32_t before = 0;

	for (size_t i = 0; i < sizeof(latency) / sizeof(*latency); i++) {
		struct da_session_opts o = {.latency_ms = latency[i], .aux_pages = 512};
		struct da_error err = {0};
		struct da_session *s;
		struct da_facts f;
		uint64_t area = 512 * (uint64_t)sysconf(_SC_PAGESIZE);

		ck_assert_int_eq(attempt("spe/simulate/", o, &err, &s), 0);
		ck_assert_int_eq(da_session_facts(s, &f), 0);
		ck_assert_uint_gt(f.events[0].attr.aux_watermark, before);
		ck_assert_uint_le(f.events[0].attr.aux_watermark, area / 2);
		before = f.events[0].attr.aux_watermark;
		da_facts_release(&f);
		da_session_free(s);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("aux_sim");
	TCase *t = tcase_create("aux_sim");
	SRunner *r;
	int failed;

	/* of a program that hangs; the thread sanitizer takes minutes */
	tcase_set_timeout(t, 1200);
	tcase_add_checked_fixture(t, make_dir, remove_dir);
	tcase_add_loop_test(t, a_million_and_none_lost, 0, 2);
	tcase_add_loop_test(t, no_loss_without_a_flag, 0, sizeof(lossy) / sizeof(*lossy));
	tcase_add_test(t, without_an_area);
	tcase_add_loop_test(t, refusals, 0, 3);
	tcase_add_test(t, periods);
	tcase_add_test(t, watermarks);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
