/** Walks the GET routes of a manager and writes what they answer. It changes nothing there. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { ApiError } from '@baton/client';
import { isoInstant, systemClock } from '@baton/kernel';
import { CommandFailure } from '../failure';
import type { LooseClient } from '../layer/declared-client';
import { ANSWERS, EVENTS, KINDS, type Kind } from './kinds';
import { masked } from './mask';
import type { Gap, Header, Line, Page, RecordingWriter } from './recording-file';

export interface RecorderOptions {
  client: LooseClient;
  url: string;
  /** Tenant of requests that concern the whole manager. */
  tenant: string;
  /** Only these tenants; empty: all. */
  only: readonly string[];
  /** Requests per second at most. */
  rate: number;
  say(text: string): void;
}

type Item = Record<string, unknown>;
interface ListAnswer {
  items: Item[];
  metadata: { pagination: { total: number } };
}

/** Where an earlier run has stopped. */
interface Progress {
  header: Header | null;
  /** Next offset of a list by `tenant what`; null: it is complete. */
  next: Map<string, number | null>;
  /** Answers, counts and gaps: `tenant what id`. */
  answered: Set<string>;
  tenants: string[];
  deployments: Map<string, string[]>;
  counts: Record<string, number>;
  gaps: number;
}

const at = (what: string, tenant: string | null, id = ''): string => `${tenant ?? ''} ${what} ${id}`;

/** Records everything, or what an earlier run has left. @returns objects by kind, and what was not answered */
export async function record(
  writer: RecordingWriter,
  options: RecorderOptions,
): Promise<{ counts: Record<string, number>; gaps: number }> {
  const progress = await progressOf(writer);
  const recorder = new Recorder(writer, options, progress);
  await recorder.begin();
  for (const kind of KINDS) if (kind.scope === 'manager') await recorder.list(kind, null);
  const { only } = options;
  const missing = only.filter((name) => !progress.tenants.includes(name));
  if (missing.length > 0)
    throw new CommandFailure(
      `there is no tenant ${missing.join(', ')}; expected one of ${progress.tenants.join(', ')}`,
    );
  for (const tenant of progress.tenants) {
    if (only.length > 0 && !only.includes(tenant)) continue;
    options.say(`tenant ${tenant}`);
    for (const kind of KINDS) if (kind.scope === 'tenant') await recorder.list(kind, tenant);
    await recorder.answers(tenant);
    await recorder.events(tenant);
  }
  writer.append([{ kind: 'end', ended_at: isoInstant(systemClock.now()), counts: progress.counts }]);
  writer.finish();
  return progress;
}

async function progressOf(writer: RecordingWriter): Promise<Progress> {
  const progress: Progress = {
    header: null,
    next: new Map(),
    answered: new Set(),
    tenants: [],
    deployments: new Map(),
    counts: {},
    gaps: 0,
  };
  for await (const line of writer.earlier()) note(progress, line);
  return progress;
}

function note(progress: Progress, line: Line): void {
  if (line.kind === 'header') progress.header = line;
  else if (line.kind === 'page') notePage(progress, line);
  else if (line.kind === 'gap') {
    progress.gaps++;
    if (line.id === null) progress.next.set(at(line.what, line.tenant), null);
    else progress.answered.add(at(line.what, line.tenant, line.id));
  } else if (line.kind === 'answer') progress.answered.add(at(line.what, line.tenant, line.id));
  else if (line.kind === 'count') progress.answered.add(at(line.what, line.tenant));
}

function notePage(progress: Progress, page: Page): void {
  const { what, tenant, items, offset, read, total } = page;
  const next = offset + read;
  progress.next.set(at(what, tenant), read === 0 || next >= total ? null : next);
  progress.counts[what] = (progress.counts[what] ?? 0) + items.length;
  if (what === 'tenants') progress.tenants.push(...items.map(({ name }) => String(name)));
  if (what !== 'deployments' || tenant === null) return;
  const known = progress.deployments.get(tenant) ?? [];
  progress.deployments.set(tenant, [...known, ...items.map(({ id }) => String(id))]);
}

class Recorder {
  #nextAtMs = 0;

  constructor(
    private readonly writer: RecordingWriter,
    private readonly options: RecorderOptions,
    private readonly progress: Progress,
  ) {}

  /** Writes the header, or checks that of the earlier run. */
  async begin(): Promise<void> {
    const { url } = this.options;
    const earlier = this.progress.header;
    if (earlier !== null && earlier.url !== url)
      throw new CommandFailure(
        `the unfinished recording is of ${earlier.url}; expected this address, or another file for ${url}`,
      );
    if (earlier !== null) return this.options.say('an unfinished recording goes on');
    const version = (await this.#ask(() => this.options.client.call('getVersion', {}))) as {
      version?: string;
    };
    this.#write({
      kind: 'header',
      format: 'baton-recording',
      version: 1,
      url,
      manager_version: String(version.version ?? 'unknown'),
      started_at: isoInstant(systemClock.now()),
      salt: randomBytes(16).toString('base64url'),
    });
  }

  /** Records all pages of a list from where it was left. */
  async list(kind: Kind, tenant: string | null): Promise<void> {
    const { what } = kind;
    for (;;) {
      const offset = this.progress.next.get(at(what, tenant)) ?? 0;
      if (this.progress.next.get(at(what, tenant)) === null) return;
      const query = { ...kind.query, _size: kind.pageSize, _offset: offset };
      const answer = await this.#tried(what, tenant, null, kind.list, { query });
      if (answer === null) return;
      const { items, metadata } = answer as unknown as ListAnswer;
      this.#write({
        kind: 'page',
        what,
        tenant,
        offset,
        total: metadata.pagination.total,
        read: items.length,
        items: items
          // Lists show global objects of other tenants, too.
          .filter((item) => tenant === null || (item.tenant_name ?? tenant) === tenant)
          .map((item) => this.#kept(kind, item)),
      });
    }
  }

  async answers(tenant: string): Promise<void> {
    for (const id of this.progress.deployments.get(tenant) ?? [])
      for (const { what, get } of ANSWERS) {
        if (this.progress.answered.has(at(what, tenant, id))) continue;
        const answer = await this.#tried(what, tenant, id, get, { params: { id } });
        const item = answer === null ? null : (masked(this.#salt, answer) as Item);
        if (item !== null) this.#write({ kind: 'answer', what, tenant, id, item });
      }
  }

  async events(tenant: string): Promise<void> {
    if (this.progress.answered.has(at(EVENTS, tenant)) || this.progress.next.has(at(EVENTS, tenant))) return;
    const query = { _size: 1, type: ['cloudify_event', 'cloudify_log'] };
    const answer = await this.#tried(EVENTS, tenant, null, 'listEvents', { query });
    if (answer === null) return;
    const { metadata } = answer as unknown as ListAnswer;
    this.#write({ kind: 'count', what: EVENTS, tenant, total: metadata.pagination.total });
  }

  get #salt(): string {
    return this.progress.header!.salt;
  }

  #kept(kind: Kind, item: Item): Item {
    const kept = Object.entries(item).filter(([name]) => !kind.dropped?.includes(name));
    // The key of a secret is its name.
    return { ...(masked(this.#salt, Object.fromEntries(kept)) as Item), ...keyFields(kind, item) };
  }

  #write(line: Line): void {
    this.writer.append([line]);
    note(this.progress, line);
  }

  /** Asks; an answer that the manager refuses is a gap, unless nothing can go on: no login, no connection. */
  async #tried(
    what: string,
    tenant: string | null,
    id: string | null,
    operation: Parameters<LooseClient['call']>[0],
    request: Item,
  ): Promise<Item | null> {
    try {
      const args = { ...request, tenant: tenant ?? this.options.tenant };
      return (await this.#ask(() => this.options.client.call(operation, args))) as Item;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401 || error.status >= 500) throw error;
      const { status, errorCode: code, message: text } = error;
      const gap: Gap = { kind: 'gap', what, tenant, id, status, code, text };
      this.#write(gap);
      return null;
    }
  }

  /** Waits for its turn: one request after the other, and not more of them than the rate allows. */
  async #ask<T>(ask: () => Promise<T>): Promise<T> {
    const nowMs = performance.now();
    if (nowMs < this.#nextAtMs) await pause(this.#nextAtMs - nowMs);
    this.#nextAtMs = Math.max(nowMs, this.#nextAtMs) + 1000 / this.options.rate;
    return await ask();
  }
}

const keyFields = (kind: Kind, item: Item): Item =>
  Object.fromEntries(kind.key.map((field) => [field, item[field]]));
