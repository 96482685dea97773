/** Derives blueprint ids from file names. */

const ENDING = /\.(zip|tar|tar\.gz|tgz|tar\.bz2|tbz2?|ya?ml)$/i;

/** Turns the name of an archive into an id that the manager accepts. */
export function idOfFileName(name: string): string {
  return name
    .split(/[/\\]/)
    .at(-1)!
    .replace(ENDING, '')
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[^A-Za-z0-9_]+|-+$/g, '');
}

/** Returns the next numbered id after one that is taken: `web` becomes `web-2`, `web-2` becomes `web-3`. */
export function nextId(id: string): string {
  const match = /^(.*)-(\d{1,6})$/.exec(id);
  return match ? `${match[1]}-${Number(match[2]) + 1}` : `${id}-2`;
}
