import { advance } from '../advance';
import { type CodeItem, codeGraph, compileItems } from '../code/compile';
import { awaitsCode } from '../code/steps';
import type { Decision, GraphEvent, GraphFlags, GraphOutcome } from '../decision';
import { type GraphState, graphFromRows, graphFromSpec } from '../graph';
import type { CodeDecision, Happening } from '../happening';
import { resumeGraph } from '../resume';
import { rowOf, undoDecision } from '../step';
import type { TaskRow } from '../task';
import { type Outcome, ok } from './driver';
import { checkEnded } from './end-oracle';
import { CONFIG, fixture } from './fixture';
import { inspector } from './inspector';

/** The batches of tasks that workflow code submits. The next batch comes when nothing moves any more. */
export interface CodeProgram {
  batches: CodeItem[][];
  isResumable: boolean;
  /** Time from the first start of the code until its worker is lost. */
  lostAtMs?: number;
  cancel?: { atMs: number; mode: 'cancel' | 'kill' };
  /** How the code ends; default: it succeeds. */
  end?: Outcome;
  /** At this interval the code drops the tasks that have not started, as it does after a failure. */
  dropsAtMs?: number;
  outcome: (nth: number) => Outcome;
  durationMs: (nth: number) => number;
  decide: (nth: number) => CodeDecision['decision'];
}

const model = fixture({ n: { ops: ['x.run'], count: 2 } });
const source = { model, config: CONFIG, isDryRun: false };
const HEAD = { name: 'wf', waitAfterFailMs: 1000, dryRun: false };
const MAX_STEPS = 600;

export interface CodeEnd {
  outcome: GraphOutcome;
  rows: TaskRow[];
  flags: GraphFlags;
  now: number;
}

/**
 * Plays a graph that code grows until the graph ends. Each step is undone and repeated, and goes on with a graph
 * rebuilt from rows. `before`: an end of the same program, which is resumed by force.
 * @throws Error when a step breaks its contract, or nothing moves any more.
 */
export function playCode(program: CodeProgram, before?: CodeEnd): CodeEnd {
  const player = new CodePlayer(program);
  let outcome = before ? player.resume(before) : null;
  for (let step = 0; step < MAX_STEPS && !outcome; step++) outcome = player.next();
  if (!outcome) throw new Error('the graph does not come to an end');
  return player.end(outcome);
}

class CodePlayer {
  #graph: GraphState;
  #now = 0;
  #count = 0;
  #batches = 0;
  #isCancelled = false;
  readonly #queue: { at: number; happening: Happening }[] = [{ at: 0, happening: { kind: 'start' } }];
  /** The steps and questions that the current run of the code has begun. */
  #attended = new Set<string>();
  readonly #inspect = inspector();
  readonly #running = new Set<string>();
  readonly #events: GraphEvent[] = [];
  #counters = { total: 0, finished: 0 };

  constructor(readonly program: CodeProgram) {
    const code = {
      name: 'wf',
      mapping: 'm.run',
      plugin: { name: 'p', packageName: null, packageVersion: null },
      parameters: {},
    };
    this.#graph = graphFromSpec(codeGraph(code, { waitAfterFailMs: 1000, isDryRun: false }));
    if (program.cancel) this.#at(program.cancel.atMs, { kind: 'cancel', mode: program.cancel.mode });
    if (program.dropsAtMs !== undefined) this.#at(program.dropsAtMs, { kind: 'drop', idxs: [] });
  }

  get rows(): TaskRow[] {
    return this.#graph.nodes.map(rowOf);
  }

  next(): GraphOutcome | null {
    this.#queue.sort((a, b) => a.at - b.at);
    const due = this.#queue.shift() ?? { at: this.#now, happening: this.#goOn() };
    this.#now = Math.max(this.#now, due.at);
    const { happening } = due;
    return this.#tell(happening.kind === 'drop' ? { kind: 'drop', idxs: this.#unstarted() } : happening);
  }

  /** The tasks that code drops (see the scope in plugin-runtime): all pending ones. */
  #unstarted(): number[] {
    return this.#graph.nodes.flatMap(({ spec, state }) =>
      spec.idx > 0 && state === 'pending' ? [spec.idx] : [],
    );
  }

  resume({ rows, now }: CodeEnd): GraphOutcome | null {
    this.#queue.length = 0;
    this.#now = now;
    const { graph, decision } = resumeGraph(HEAD, rows, { force: true, now, resumable: true });
    this.#graph = graph;
    return this.#follow(decision);
  }

  end(outcome: GraphOutcome): CodeEnd {
    const { rows } = this;
    const { flags } = this.#graph;
    const [events, counters, running, now] = [this.#events, this.#counters, this.#running, this.#now];
    checkEnded({ rows, flags, outcome, events, counters, running, now });
    return { outcome, rows, flags, now };
  }

  #at(at: number, happening: Happening): void {
    this.#queue.push({ at, happening });
  }

  /** When nothing moves: the code submits the next batch, or ends. */
  #goOn(): Happening {
    const code = this.#graph.nodes[0]!;
    if (code.state !== 'started') throw new Error(`nothing moves, and the code is ${code.state}`);
    const batch = this.#isCancelled ? undefined : this.program.batches[this.#batches++];
    if (batch) return { kind: 'add', tasks: this.#compile(batch) };
    return { result: null, ...(this.program.end ?? ok()), idx: 0, attempt: code.attempt } as Happening;
  }

  /** Leaves out work whose key exists already. */
  #compile(batch: readonly CodeItem[]) {
    const known = new Map(
      this.#graph.nodes.flatMap(({ spec }) => (spec.key ? [[spec.key, spec.idx] as const] : [])),
    );
    const fresh = batch.filter(({ key }) => !known.has(key));
    const tasks = compileItems(source, fresh, this.#graph.nodes.length, known);
    if (!tasks.ok) throw new Error(tasks.error.message);
    return tasks.value;
  }

  #tell(happening: Happening): GraphOutcome | null {
    const stored = this.rows;
    const once = advance(this.#graph, [happening], this.#now);
    const text = JSON.stringify(once);
    undoDecision(this.#graph, once);
    const decision = advance(this.#graph, [happening], this.#now);
    if (JSON.stringify(decision) !== text) throw new Error('a decision taken back and made again differs');
    this.#inspect(stored, decision);
    if (happening.kind === 'cancel') this.#isCancelled = true;
    if (this.#isCancelled && decision.dispatch.length > 0) throw new Error('dispatched after a cancel');
    if ('attempt' in happening && !['started', 'decide'].includes(happening.kind))
      this.#running.delete(`${happening.idx}/${happening.attempt}`);
    return this.#follow(decision);
  }

  #follow(decision: Decision): GraphOutcome | null {
    this.#graph = graphFromRows(HEAD, structuredClone(this.rows), decision.flags);
    this.#events.push(...decision.events);
    this.#counters = decision.counters;
    if (decision.outcome) return decision.outcome;
    for (const idx of decision.dispatch) this.#run(idx);
    for (const { idx, at } of decision.timers) this.#at(at, { kind: 'due', idx });
    this.#attend();
    return null;
  }

  #run(idx: number): void {
    const { attempt } = this.#graph.nodes[idx]!;
    const of = { idx, attempt };
    this.#running.add(`${idx}/${attempt}`);
    this.#at(this.#now, { kind: 'started', ...of });
    if (idx === 0) {
      // The code begins anew, and finds its earlier work.
      this.#batches = 0;
      this.#attended = new Set();
      if (this.program.isResumable) this.#at(this.#now, { kind: 'declare-resumable' });
      if (attempt === 1 && this.program.lostAtMs !== undefined)
        this.#at(this.#now + this.program.lostAtMs, { kind: 'lost', ...of });
      return;
    }
    this.#report(of);
  }

  #report(of: { idx: number; attempt: number }): void {
    const nth = this.#count++;
    const outcome = this.program.outcome(nth);
    const at = this.#now + this.program.durationMs(nth);
    if (outcome.kind !== 'hang') this.#at(at, { result: null, ...outcome, ...of } as Happening);
  }

  /** Handles steps and questions that wait for the code. */
  #attend(): void {
    if (this.#graph.nodes[0]!.state !== 'started') return;
    for (const { spec, state, attempt } of this.#graph.nodes) {
      const run = `${spec.idx}/${attempt}/${state}`;
      if (!awaitsCode(spec, state) || this.#attended.has(run)) continue;
      this.#attended.add(run);
      const of = { idx: spec.idx, attempt };
      const nth = this.#count++;
      const at = this.#now + this.program.durationMs(nth);
      if (state === 'response-sent') {
        const decision = this.program.decide(nth);
        this.#at(at, { kind: 'decide', ...of, decision, retryAfterMs: null, ignoreTotalRetries: false });
        continue;
      }
      this.#running.add(`${spec.idx}/${attempt}`);
      const outcome = this.program.outcome(nth);
      const isPlain = outcome.kind === 'succeeded' || outcome.kind === 'failed';
      this.#at(at, { result: null, ...(isPlain ? outcome : ok()), ...of } as Happening);
    }
  }
}
