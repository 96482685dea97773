/**
 * Whether If-None-Match contains the tag, which is given with its quotes; weak tags count (RFC 9110 13.1.2). `*` does not count.
 */
export const namesTag = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
