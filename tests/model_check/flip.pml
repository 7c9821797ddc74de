/* SPDX-FileCopyrightText: 2026 The rbprof authors
 * SPDX-License-Identifier: MIT
 *
 * The flip of base/flip_word.hpp and the flusher of recorder/flip_recorder.hpp, as a model that spin
 * explores exhaustively. `check_model` runs it in several sizes and with each of its mutants.
 *
 * The word: all its fields change together, by one atomic read-modify-write (d_step below).
 *   inflight  entered and not left (bits 0..11)   closed  bit 12   hot  bit 13
 *   seq       records completed, modulo SEQ_MOD (bits 14..63; the carry falls off the top)
 *
 * Variables that only the checks use: wr, torn, owned, alive, written, delivered, refused.
 *
 * With one MUT_x defined spin must find an error, without any none:
 *   MUT_NOWAIT     the flusher reads without waiting for the writer that entered before the flip
 *   MUT_REFLIP     a flush after a time-out flips again instead of finishing the pending slot
 *   MUT_LATERESET  the cold slot is reset after the next flip, not before
 *   MUT_EARLYFREE  old tables are freed at the flip, not after the drain
 *   MUT_LEAVEFIRST the sampler leaves before its record is complete
 *   MUT_NOREFUSE   a second sampler (VM lock broken, or nested) is let in
 *   MUT_FORKREUSE  the child keeps using the recorder although prepare timed out
 *   MUT_STOPNOWAIT stop closes, and frees without draining
 *
 * -DLIVENESS takes the time-outs away: that there is no dead end then means that every wait ends.
 * -DMUT_ZEROONLY waits for inflight == 0 alone: safe, but samples back to back can starve the flusher; it is
 * here to explain why a ticket has `seq`, and is not checked.
 */
#ifndef SEQ_MOD
#define SEQ_MOD 2           /* smallest possible: wrap-around happens all the time */
#endif
#ifndef RECORDS
#define RECORDS 3
#endif
#ifndef FLUSHES
#define FLUSHES 3
#endif
#ifndef SAMPLERS
#define SAMPLERS 1
#endif
#define GENS 4

byte inflight = 0; bit closed = 0; bit hot = 0; byte seq = 0;      /* the word */

byte used[2];                 /* complete records in slot        */
byte tab[2];                  /* table generation slot writes in */
byte ent[GENS];               /* entries appended, per generation */
byte maxid[2];                /* highest table entry slot refers to, +1 */
bit  alive[GENS];
byte wr[2]; bit torn[2]; bit owned[2];
byte written, delivered, refused, nextgen = 1;
byte lock = 0;                /* flusher mutex: flush, stop, fork */
bit  pending = 0; bit cold; byte ticket;   /* flusher state, guarded by lock */
bit  stopped = 0; bit stale[2];

#define ACQUIRE atomic { lock == 0 -> lock = 1 }
#define RELEASE lock = 0
#ifdef MUT_ZEROONLY
#define DRAINED(t) (inflight == 0)
#else
#define DRAINED(t) (seq != t || inflight == 0)      /* one load of the word */
#endif

proctype sampler() {
  byte i = 0; byte n; bit s, c; byte id;
  do
  :: i < RECORDS ->
     d_step { n = inflight; s = hot; c = closed; inflight++ }                 /* enter: fetch_add(1) */
     if
#ifdef MUT_NOREFUSE
     :: c ->
#else
     :: n > 0 || c ->
#endif
        atomic { inflight--; refused++ }                                      /* refused: fetch_sub(1) */
     :: else ->
        atomic { assert(!owned[s]); wr[s]++; assert(wr[s] == 1); torn[s] = 1 }
        atomic { assert(alive[tab[s]]); id = ent[tab[s]] }                    /* append an entry ... */
        atomic { assert(alive[tab[s]]); ent[tab[s]] = id + 1; maxid[s] = id + 1 } /* ... publish it   */
#ifdef MUT_LEAVEFIRST
        d_step { inflight--; seq = (seq + 1) % SEQ_MOD }
#endif
        atomic { assert(!owned[s]); assert(!stopped); used[s]++; torn[s] = 0; wr[s]--; written++ }
#ifndef MUT_LEAVEFIRST
        d_step { inflight--; seq = (seq + 1) % SEQ_MOD }                      /* leave: fetch_add(2^14-1) */
#endif
     fi;
     i++
  :: else -> break
  od
}

inline take(s) {              /* the slot is the flusher's alone */
  atomic { owned[s] = 1; assert(wr[s] == 0 && !torn[s]) }
  atomic { assert(used[s] == 0 || alive[tab[s]]); assert(maxid[s] <= ent[tab[s]]); delivered = delivered + used[s] }
#ifndef MUT_LATERESET
  atomic { assert(wr[s] == 0 && !torn[s]); used[s] = 0; maxid[s] = 0; owned[s] = 0 }
#else
  atomic { stale[s] = 1; owned[s] = 0 }
#endif
}

proctype flusher() {
  byte k = 0; byte n; bit ok; bit o;
  do
  :: k < FLUSHES ->
     ACQUIRE;
     if :: stopped -> RELEASE; break :: else fi;
     ok = 0;
     if
#ifndef MUT_REFLIP
     :: pending -> skip                                          /* finish what timed out, do not flip */
     :: !pending ->
#else
     :: true ->
#endif
        o = 1 - hot;                                             /* ours since the last take() */
        if                                                       /* tables over budget? hand in fresh ones */
        :: nextgen < GENS -> atomic { tab[o] = nextgen; alive[nextgen] = 1; nextgen++ }
        :: tab[o] = tab[1 - o]
        fi;
        d_step { n = inflight; ticket = seq; cold = hot; hot = 1 - hot; pending = 1 }   /* fetch_xor */
#ifdef MUT_EARLYFREE
        if :: tab[cold] != tab[1 - cold] -> alive[tab[cold]] = 0 :: else fi;
#endif
#ifdef MUT_LATERESET
        if :: stale[1 - cold] -> used[1 - cold] = 0; stale[1 - cold] = 0 :: else fi;
#endif
        if :: n == 0 -> ok = 1 :: else fi
     fi;
#ifdef MUT_NOWAIT
     ok = 1;
#endif
     do
     :: ok -> break
     :: !ok && DRAINED(ticket) -> ok = 1
#ifndef LIVENESS
     :: !ok && !DRAINED(ticket) -> break                         /* time-out: keep pending, ticket, cold */
#endif
     od;
     if
     :: ok -> take(cold);
#ifndef MUT_EARLYFREE
        if :: tab[cold] != tab[1 - cold] -> alive[tab[cold]] = 0 :: else fi;   /* evict: nobody can refer to it */
#endif
        pending = 0
     :: else
     fi;
     RELEASE; k++
  :: else -> break
  od
}

#ifdef FORK
proctype forker() {           /* any thread; pthread_atfork */
  byte t; bit quiet; byte n;
  ACQUIRE;
  if :: stopped -> RELEASE; goto done :: else fi;
  d_step { n = inflight; t = seq; closed = 1 }                   /* prepare: fetch_or(closed) */
  quiet = (n == 0);
  do
  :: quiet -> break
  :: !quiet && DRAINED(t) -> quiet = 1
  :: !quiet && !DRAINED(t) -> break                              /* bounded wait ran out */
  od;
  /* ---- fork: the child's image ---- */
#ifdef MUT_FORKREUSE
  assert(!torn[0] && !torn[1]);
#else
  if
  :: quiet -> assert(!torn[0] && !torn[1] && wr[0] == 0 && wr[1] == 0)  /* child: word := 0, slots reset, tables kept */
  :: else  -> skip                                               /* child: abandons recorder and tables, starts new ones */
  fi;
#endif
  closed = 0;                                                    /* parent: fetch_and(~closed); ticket stays valid */
  RELEASE;
done: skip
}
#endif

#ifdef STOP
proctype stopper() {
  byte t, n;
  ACQUIRE;
  d_step { n = inflight; t = seq; closed = 1 }
#ifndef MUT_STOPNOWAIT
  if :: n == 0 :: else -> DRAINED(t) fi;
#endif
  stopped = 1;
  take(0); take(1);
  alive[tab[0]] = 0; alive[tab[1]] = 0;
  assert(delivered == written);
  RELEASE
}
#endif

init {
  atomic { alive[0] = 1; tab[0] = 0; tab[1] = 0;
    byte i = 0; do :: i < SAMPLERS -> run sampler(); i++ :: else -> break od;
    run flusher();
#ifdef FORK
    run forker();
#endif
#ifdef STOP
    run stopper();
#endif
  }
  (_nr_pr == 1);
  /* all quiet: what is neither delivered nor still in a slot was lost */
  assert(inflight == 0);
  assert(written == delivered + used[0] + used[1]);
  assert(written + refused == SAMPLERS * RECORDS)
}
