/**
 * What goes into and comes out of the parsing thread. The thread has no way out: it reads what the task brings and names
 * what it lacked in `needs`; the main thread obtains that and asks again. Rounds = depth of imports from elsewhere.
 */
import type { LabelPair } from '@baton/contracts';
import type { Json } from '@baton/kernel';
import type { PlanUse } from '../domain/plan-uses';
import type { BlueprintDiagnostic } from '../domain/upload-failure';

/** A text from elsewhere; null: there is no such thing. */
export type Fetched =
  | { kind: 'text'; text: string }
  | {
      kind: 'plugin';
      text: string;
      labels: Record<string, string[]>;
      blueprintLabels: Record<string, string[]>;
      resourceTags: Record<string, string>;
    }
  | { kind: 'blueprint'; mainFile: string; files: ArchiveFiles }
  /** It cannot be had, and why; `valid`: names of what there is instead. */
  | { kind: 'unreadable'; reason: string; valid?: string[] }
  | null;

export interface ArchiveFiles {
  /** All paths below the top folder. */
  paths: string[];
  /** Texts of the YAML files, by path. */
  texts: Record<string, string>;
}

export interface ParseTask {
  mainFile: string;
  files: ArchiveFiles;
  /** By need key. */
  fetched: Record<string, Fetched>;
  nowMs: number;
}

export interface ParseReply {
  /** Keys that were asked for and not in `fetched`; when there are any, the rest of the reply is provisional. */
  needs: string[];
  plan: {
    json: string;
    requirements: Json;
    description: string | null;
    labels: LabelPair[];
    uses: PlanUse[];
  } | null;
  diagnostics: BlueprintDiagnostic[];
}

export const needUrl = (url: string): string => `url ${url}`;
export const needFile = (path: string): string => `file ${path}`;
export const needBlueprint = (id: string): string => `blueprint ${id}`;
export const needPlugin = (
  name: string,
  version: string | null,
  distribution: string | null,
  dsl: string,
): string => `plugin ${JSON.stringify([name, version, distribution, dsl])}`;

export type Need =
  | { kind: 'url'; url: string }
  | { kind: 'file'; path: string }
  | { kind: 'blueprint'; id: string }
  | { kind: 'plugin'; name: string; version: string | null; distribution: string | null; dsl: string };

export function readNeed(key: string): Need {
  const space = key.indexOf(' ');
  const kind = key.slice(0, space);
  const rest = key.slice(space + 1);
  if (kind === 'url') return { kind, url: rest };
  if (kind === 'file') return { kind, path: rest };
  if (kind === 'blueprint') return { kind, id: rest };
  const [name, version, distribution, dsl] = JSON.parse(rest) as [
    string,
    string | null,
    string | null,
    string,
  ];
  return { kind: 'plugin', name, version, distribution, dsl };
}

/** What the thread is sent. */
export type ThreadTask =
  | { kind: 'blueprint'; task: ParseTask }
  | { kind: 'yaml'; texts: string[] }
  | { kind: 'pluginYaml13'; text: string };
