/** Messages to and from the parsing thread. */
import type { LabelPair } from '@baton/contracts';
import type { ArchiveTask } from '@baton/dsl';
import type { Json } from '@baton/kernel';
import type { PlanUse } from '../domain/plan-uses';
import type { BlueprintDiagnostic } from '../domain/upload-failure';

export interface ParseReply {
  /** Keys that the parser needs and that `fetched` lacks; when there are any, the rest of the reply is provisional. */
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

/** The message to the thread. */
export type ThreadTask =
  | { kind: 'blueprint'; task: ArchiveTask }
  | { kind: 'yaml'; texts: string[] }
  | { kind: 'pluginYaml13'; text: string };
