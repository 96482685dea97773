/**
 * Secrets in a bundle: a member `sealed` of a record holds the fields that travel sealed, under the same names. Whoever opens the bundle
 * moves them to their places. AES-256-GCM under the key of the bundle; type, id and field are authenticated.
 */
import type { Json } from '@baton/kernel';
import { openBytes, SEAL_KEY_BYTES, sealBytes } from '@baton/trust/sealed-bytes';

/** Type of the record, its id, and the field. */
export type BundlePlace = readonly [type: string, id: string, field: string];

const keyOf = (bundleKey: string): Buffer => {
  const key = Buffer.from(bundleKey, 'base64url');
  if (key.length !== SEAL_KEY_BYTES)
    throw new Error(`the key of a bundle has ${SEAL_KEY_BYTES} bytes, not ${key.length}`);
  return key;
};
const boundTo = (place: BundlePlace): Buffer => Buffer.from(JSON.stringify(['baton-bundle', 1, ...place]));

/** Seals the JSON of a value. @param bundleKey 32 bytes in base64url. @throws Error for a key of another length */
export function sealForBundle(bundleKey: string, place: BundlePlace, value: Json): string {
  const text = Buffer.from(JSON.stringify(value), 'utf8');
  return sealBytes(keyOf(bundleKey), text, boundTo(place)).toString('base64url');
}

/** Null: the key is another one, or the text was changed or moved. @throws Error for a key of another length */
export function openFromBundle(
  bundleKey: string,
  place: BundlePlace,
  sealed: string,
): { value: Json } | null {
  const key = keyOf(bundleKey);
  try {
    const text = openBytes(key, Buffer.from(sealed, 'base64url'), boundTo(place)).toString('utf8');
    return { value: JSON.parse(text) as Json };
  } catch {
    return null;
  }
}
