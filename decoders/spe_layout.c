/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE: the cache of record layouts (da_spe.h says what a layout is and why it is safe to use).
 *
 * Only speed depends on this file: a record that no layout fits is left to the walk in spe.c, and the report
 * that a layout gives is the one that the walk would give. Never cached are records with padding whose length
 * depends on its position, with several events or source packets, or longer than DA_SPE_LAYOUT_MAX.
 */
#include "da_spe.h"

/* When the cache is full and this many records found no place in it, it is emptied: what it holds may be of
 * another phase of the program. The number doubles each time, so that learning costs little beside walking
 * in a stream that has too many layouts. */
#define PATIENCE_MIN 256
#define PATIENCE_MAX 16384

#define AHEAD 1024 /* bytes that are asked for before they are needed */

static uint64_t field(const uint8_t *p, const struct da_spe_field *f)
{
	return da_spe_le64(p + f->off) & f->mask;
}

typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair load_pair(const uint8_t *p)
{
	pair v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Bits in which 16 bytes of a record differ from the layout's headers. */
static inline pair differ(const struct da_spe_layout *l, const uint8_t *p, unsigned at)
{
	return (load_pair(p + at) ^ load_pair(l->val + at)) & load_pair(l->mask + at);
}

static inline pair differ64(const struct da_spe_layout *l, const uint8_t *p, unsigned at)
{
	return differ(l, p, at) | differ(l, p, at + 16) | differ(l, p, at + 32) |
	       differ(l, p, at + 48);
}

/* The first 64 bytes, which most records do not exceed, are compared without a branch on the length. */
static inline bool fits(const struct da_spe_layout *l, const uint8_t *p)
{
	pair diff = differ64(l, p, 0);

	if (l->len > 64)
		diff |= differ64(l, p, 64);
	return !(diff[0] | diff[1]);
}

static inline unsigned step_down(const struct da_spe_layouts *c, unsigned node, const uint8_t *p)
{
	const struct da_spe_node *n = &c->node[node];

	return c->next[node][da_spe_way(n, da_spe_looks(n, p))];
}

/* Always takes the same number of steps, since nobody can predict which way a record goes. */
static inline unsigned lookup(const struct da_spe_layouts *c, const uint8_t *p)
{
	unsigned v = step_down(c, 1, p);

	for (unsigned i = c->depth; i > 1; i--) {
		unsigned below = step_down(c, v & (DA_SPE_LAYOUTS - 1), p);

		v ^= (v ^ below) & ((v >> 7) - 1); /* a leaf stays */
	}
	return v;
}

/* What fill_report() in spe.c does with a walked record, without a branch. */
static inline void fill(const struct da_spe_layout *l, const uint8_t *p, enum da_spe_cpu cpu,
			struct da_report *r)
{
	uint64_t pc = field(p, &l->pc);
	uint64_t va = field(p, &l->va);
	uint64_t events = field(p, &l->events);
	unsigned source = (unsigned)field(p, &l->source) | l->source_none;

	r->has = l->base_has;
	r->pid = l->base_pid;
	r->tid = (uint32_t)field(p, &l->context) | l->base_tid;
	r->time_ns = field(p, &l->timestamp) | l->base_time;
	r->ip = da_spe_pc(pc);
	r->ctx = da_spe_ctx(pc) & l->ctx;
	r->vaddr = da_spe_va(va);
	r->tag = (uint8_t)(va >> 56);
	r->paddr = da_spe_pa(field(p, &l->pa));
	r->paddr_how = l->paddr_how;
	r->latency = (uint32_t)field(p, &l->total);
	r->hw_events = (uint16_t)events;
	r->op = l->op;
	r->data_src = l->data_src | (da_spe_level(cpu, source, events) & l->levels);
}

static struct da_report *flush(struct da_spe_out *o, const struct da_report *out)
{
	o->nr = (size_t)(out - o->batch);
	if (o->nr == DA_SPE_BATCH)
		da_spe_flush(o);
	return o->batch + o->nr;
}

size_t da_spe_fast(const struct da_spe_layouts *c, const uint8_t *p, size_t n, struct da_spe_out *o)
{
	const enum da_spe_cpu cpu = o->cpu;
	const uint8_t *at = p, *stop = p + n - DA_SPE_MARGIN;
	struct da_report *out = o->batch + o->nr, *full = o->batch + DA_SPE_BATCH;
	uint64_t hits[DA_SPE_LAYOUTS] = {0};
	size_t len = 0;

	while (at <= stop) {
		const struct da_spe_layout *l;
		uint64_t pads = da_spe_le64(at);
		unsigned found;

		if (!(pads & 0xff)) { /* padding between records */
			at += pads ? (unsigned)__builtin_ctzll(pads) / 8 : sizeof(pads);
			continue;
		}
		__builtin_prefetch((const void *)((uintptr_t)at + AHEAD));
		found = lookup(c, at);
		l = &c->layout[found & ~DA_SPE_LEAF];
		if (!found || !fits(l, at))
			break;
		hits[found & ~DA_SPE_LEAF]++;
		/* A report or none is a coin toss for the predictor: fill always, keep if there is one. */
		fill(l, at, cpu, out);
		out = (struct da_report *)(void *)((uint8_t *)out + l->step);
		if (out == full)
			out = flush(o, out);
		/* Most records are as long as the one before: with a branch on that the processor can begin
		 * with the next record before it has found out the length of this one. */
		if (l->len != len) {
			len = l->len;
			__asm__("" : "+r"(len)); /* keeps it a branch */
		}
		at += len;
	}
	flush(o, out);
	for (unsigned i = 0; i < c->nr; i++) {
		o->stats->records += hits[i];
		o->stats->reserved_packets += hits[i] * c->layout[i].reserved;
		o->dropped[c->layout[i].drop] += hits[i];
	}
	return (size_t)(at - p);
}

/* ---- learning ---- */

static struct da_spe_field *field_of(struct da_spe_layout *l, const struct da_spe_packet *k)
{
	switch (k->kind) {
	case DA_SPE_ADDRESS:
		return k->index == 0   ? &l->pc
		       : k->index == 2 ? &l->va
		       : k->index == 3 ? &l->pa
				       : NULL;
	case DA_SPE_COUNTER:
		return k->index == 0 ? &l->total : NULL;
	case DA_SPE_CONTEXT:
		return &l->context;
	case DA_SPE_TIMESTAMP:
		return &l->timestamp;
	case DA_SPE_EVENTS:
		return &l->events;
	case DA_SPE_SOURCE:
		return &l->source;
	default:
		return NULL;
	}
}

static uint64_t bytes_mask(unsigned nr)
{
	return nr < 8 ? ((uint64_t)1 << nr * 8) - 1 : UINT64_MAX;
}

/* The header bytes of the record and where its fields are. False: not to be cached. */
static bool read_layout(struct da_spe_layout *l, const uint8_t *p, size_t len)
{
	if (len > DA_SPE_LAYOUT_MAX)
		return false;
	for (size_t at = 0; at < len;) {
		struct da_spe_field *f;
		struct da_spe_packet k;
		unsigned fixed; /* leading bytes of the packet that must be equal */

		da_spe_packet(p + at, len - at, 0, &k);
		if (k.kind < DA_SPE_PAD || k.kind == DA_SPE_ALIGN)
			return false;
		fixed = k.kind == DA_SPE_OP ? k.len : k.head;
		f = field_of(l, &k);
		if (f) {
			if (f->mask && (k.kind == DA_SPE_EVENTS || k.kind == DA_SPE_SOURCE))
				return false;
			f->off = (uint8_t)(at + k.head);
			f->mask = bytes_mask((unsigned)k.len - k.head);
		}
		memset(l->mask + at, 0xff, fixed);
		memcpy(l->val + at, p + at, fixed);
		at += k.len;
	}
	l->source.mask &= UINT16_MAX;
	l->len = (uint8_t)len;
	return true;
}

/* What the reports of all records of this shape have in common. */
static void set_report(struct da_spe_layout *l, const struct da_spe_record *r, enum da_spe_cpu cpu)
{
	bool data = r->ops & DA_SPE_OP_DATA;

	l->has = da_spe_report_has(r);
	l->drop = (uint8_t)da_spe_drop(r);
	l->step = l->drop == DA_DROP_NR ? sizeof(struct da_report) : 0;
	l->op = da_spe_rw(r->ops);
	l->ctx = l->has & DA_HAS_IP ? UINT8_MAX : 0;
	l->paddr_how = r->has & DA_SPE_HAS_PA ? DA_PADDR_SAMPLED : DA_PADDR_NONE;
	l->reserved = r->reserved;
	l->data_src = data ? da_spe_op_source(cpu, r->ops) : 0;
	l->levels = data ? UINT64_MAX : 0;
	if (!(r->has & DA_SPE_HAS_SOURCE) || !da_spe_uses_source(cpu, r->ops)) {
		l->source.mask = 0;
		l->source_none = DA_SPE_SOURCES;
	}
}

/* What a record says replaces what the caller knows. */
static void set_base(struct da_spe_layout *l, const struct da_report *base)
{
	bool tid = l->has & DA_HAS_TID, ticks = l->has & DA_HAS_TICKS;

	l->base_has =
		l->has | (base->has & ~((tid ? DA_HAS_TASK : 0u) | (ticks ? DA_HAS_TIME : 0u)));
	l->base_pid = tid ? 0 : base->pid;
	l->base_tid = tid ? 0 : base->tid;
	l->base_time = ticks ? 0 : base->time_ns;
}

void da_spe_prepare(struct da_spe_layouts *c, const struct da_report *base)
{
	for (unsigned i = 0; i < c->nr; i++)
		set_base(&c->layout[i], base);
}

/* ---- the tree ---- */

struct set {
	unsigned nr;
	uint8_t of[DA_SPE_LAYOUTS]; /* layout numbers */
};

/* Are the bytes there header bytes in all layouts of the set, and not all equal? */
static bool tells_apart(const struct da_spe_layouts *c, const struct set *s, unsigned at)
{
	bool differ = false;

	for (unsigned i = 0; i < s->nr; i++) {
		const struct da_spe_layout *l = &c->layout[s->of[i]];

		if (at >= l->len || !l->mask[at])
			return false;
		differ |= l->val[at] != c->layout[s->of[0]].val[at];
	}
	return differ;
}

/* Into how many ways the node divides the set. */
static unsigned ways(const struct da_spe_layouts *c, const struct set *s,
		     const struct da_spe_node *n)
{
	bool seen[256] = {false};
	unsigned nr = 0;

	for (unsigned i = 0; i < s->nr; i++) {
		uint8_t way = da_spe_way(n, da_spe_looks(n, c->layout[s->of[i]].val));

		nr += !seen[way];
		seen[way] = true;
	}
	return nr;
}

/* Chooses the bytes to look at, each of which must divide the set further. Up to the first byte in which
 * two layouts differ all have the same packets, so this byte is a header byte in all: there is one. */
static struct da_spe_node choose_looks(const struct da_spe_layouts *c, const struct set *s)
{
	static const uint32_t mults[] = {0x01000193, 0x9e3779b1, 0x85ebca6b, 0xc2b2ae35,
					 0x27d4eb2f, 0x165667b1, 0xcc9e2d51, 0x1b873593};
	struct da_spe_node best = {.mult = 1};
	unsigned most = 1, looks = 0;

	for (unsigned at = 0; at < DA_SPE_LAYOUT_MAX && looks < DA_SPE_LOOKS && most < s->nr;
	     at++) {
		struct da_spe_node n = best;

		if (!tells_apart(c, s, at))
			continue;
		if (!looks) { /* the byte itself is the way */
			memset(best.at, (int)at, sizeof(best.at));
			most = ways(c, s, &best);
			looks = 1;
			continue;
		}
		n.at[looks] = (uint8_t)at;
		for (unsigned m = 0; m < sizeof(mults) / sizeof(mults[0]); m++) {
			unsigned nr;

			n.mult = mults[m];
			nr = ways(c, s, &n);
			if (nr > most) {
				most = nr;
				best = n;
			}
		}
		looks += best.at[looks] == at;
	}
	return best;
}

/* Builds the tree of a set; the link to it. *depth: nodes on the longest way down. */
static uint8_t build(struct da_spe_layouts *c, const struct set *s, unsigned *depth)
{
	bool done[DA_SPE_LAYOUTS] = {false};
	unsigned me, deepest = 0;

	*depth = 0;
	if (s->nr == 1 && c->nr_nodes)
		return (uint8_t)(DA_SPE_LEAF | s->of[0]);
	me = ++c->nr_nodes;
	c->node[me] = choose_looks(c, s);
	memset(c->next[me], 0, sizeof(c->next[me]));
	for (unsigned i = 0; i < s->nr; i++) {
		const struct da_spe_node *n = &c->node[me];
		struct set part = {0};
		unsigned below;
		uint8_t way;

		if (done[i])
			continue;
		way = da_spe_way(n, da_spe_looks(n, c->layout[s->of[i]].val));
		for (unsigned k = i; k < s->nr; k++) {
			if (da_spe_way(n, da_spe_looks(n, c->layout[s->of[k]].val)) != way)
				continue;
			part.of[part.nr++] = s->of[k];
			done[k] = true;
		}
		c->next[me][way] = build(c, &part, &below);
		deepest = below > deepest ? below : deepest;
	}
	*depth = deepest + 1;
	return (uint8_t)me;
}

static void build_all(struct da_spe_layouts *c)
{
	struct set all = {.nr = c->nr};
	unsigned deepest;

	for (unsigned i = 0; i < all.nr; i++)
		all.of[i] = (uint8_t)i;
	c->nr_nodes = 0;
	build(c, &all, &deepest); /* node 1 is the root, also over a single layout */
	c->depth = (uint8_t)deepest;
}

static bool known(const struct da_spe_layouts *c, const struct da_spe_layout *l)
{
	for (unsigned i = 0; i < c->nr; i++)
		if (c->layout[i].len == l->len && !memcmp(c->layout[i].mask, l->mask, l->len) &&
		    !memcmp(c->layout[i].val, l->val, l->len))
			return true;
	return false;
}

void da_spe_forget(struct da_spe_layouts *c, enum da_spe_cpu cpu)
{
	memset(c->next[1], 0, sizeof(c->next[1]));
	c->nr = 0;
	c->depth = 0;
	c->missed = 0;
	c->cpu = (uint8_t)cpu;
}

void da_spe_learn(struct da_spe_layouts *c, const uint8_t *p, size_t len,
		  const struct da_spe_record *r, const struct da_spe_out *o)
{
	struct da_spe_layout *l;

	if (c->nr == DA_SPE_LAYOUTS) {
		if (c->patience < PATIENCE_MIN)
			c->patience = PATIENCE_MIN;
		if (++c->missed < c->patience)
			return;
		if (c->patience < PATIENCE_MAX)
			c->patience *= 2;
		da_spe_forget(c, o->cpu);
	}
	l = &c->layout[c->nr];
	memset(l, 0, sizeof(*l));
	/* known: the record was walked for the padding before it */
	if (!read_layout(l, p, len) || known(c, l))
		return;
	set_report(l, r, o->cpu);
	set_base(l, &o->base);
	c->nr++;
	build_all(c);
}
