/** What a webhook keeps sealed: its signing keys and the values of its headers. */
import { Secret } from '@baton/kernel';

/** Number of the form of the sealed document (docs/adr/0027-formats-carry-numbers.md). */
const FORMAT = 1;

export interface KeptSecrets {
  current: Secret;
  /** The key before the last rotation, and its end in epoch ms. */
  former: { secret: Secret; untilMs: number } | null;
  headers: Secret<Record<string, string>>;
}

/** A text that binds the ciphertext to one webhook: one that is made anew under the id has another uid. */
export const useOf = (uid: string): string => `webhooks/${uid}`;

export function writeKept({ current, former, headers }: KeptSecrets): Secret {
  return new Secret(
    JSON.stringify({
      format: FORMAT,
      current: current.expose(),
      former: former && { secret: former.secret.expose(), untilMs: former.untilMs },
      headers: headers.expose(),
    }),
  );
}

/** @throws Error for a form that this release does not know. */
export function readKept(text: Secret): KeptSecrets {
  const kept = JSON.parse(text.expose()) as {
    format: number;
    current: string;
    former: { secret: string; untilMs: number } | null;
    headers: Record<string, string>;
  };
  if (kept.format !== FORMAT) throw new Error(`sealed webhook of the unknown format ${kept.format}`);
  return {
    current: new Secret(kept.current),
    former: kept.former && { secret: new Secret(kept.former.secret), untilMs: kept.former.untilMs },
    headers: new Secret(kept.headers),
  };
}

/** The keys that sign at `nowMs`, the current one first. */
export function signingKeys({ current, former }: KeptSecrets, nowMs: number): Secret[] {
  return former !== null && former.untilMs > nowMs ? [current, former.secret] : [current];
}
