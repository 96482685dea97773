/** Numbers and plurals of English. */
export const count = new Intl.NumberFormat('en');

/** `2 nodes`, `1 node`. */
export const many = (n: number, one: string, more = `${one}s`): string =>
  `${count.format(n)} ${n === 1 ? one : more}`;
