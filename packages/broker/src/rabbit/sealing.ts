/**
 * Seals of the messages whose content is trusted (`seal` in the topology): made when they are published, checked before they are
 * read.
 */
import { AppError } from '@baton/kernel';
import { type Seals, UnknownKey } from '@baton/trust';
import type { ConsumeMessage } from 'amqplib';
import type { Catalogue } from '../catalogue';
import { publishersOf } from '../topology';
import { unavailable } from '../unavailable';

/** Header of the seal. It stays with the message through all queues, because the content stays the same. */
export const SEAL_HEADER = 'x-baton-seal';

export interface Sealing {
  /** Null where this process has no seals. */
  sealAll(publisher: string, contents: readonly Buffer[]): string[] | null;
  /**
   * Checks the seal of a delivery. @throws AppError forbidden_error, not retryable, for a wrong seal; service_unavailable_error
   * while the key of its publisher is not known.
   */
  check(type: string, delivery: ConsumeMessage): void;
}

/** Without `seals` (a worker, which consumes no sealed messages) no seal is made and none is checked. */
export function createSealing(o: {
  seals: Seals | null;
  catalogue: Catalogue;
  /** Called when a message was refused. */
  onRefused: (type: string) => void;
}): Sealing {
  const { seals, catalogue } = o;
  return {
    sealAll: (publisher, contents) => seals?.sealAll(publisher, contents) ?? null,
    check(type, { content, properties }) {
      const entry = catalogue.entryOf(type);
      if (!seals || !entry?.seal) return;
      try {
        seals.check(publishersOf(entry), content, properties.headers?.[SEAL_HEADER]);
      } catch (error) {
        if (error instanceof UnknownKey) throw unavailable('not believed yet', error);
        o.onRefused(type);
        throw new AppError('forbidden_error', `${type} is not believed: ${(error as Error).message}`);
      }
    },
  };
}

/** Returns the seal header for a message that is passed on. */
export function sealOf(properties: ConsumeMessage['properties']): { [SEAL_HEADER]?: string } {
  const seal: unknown = properties.headers?.[SEAL_HEADER];
  return typeof seal === 'string' ? { [SEAL_HEADER]: seal } : {};
}
