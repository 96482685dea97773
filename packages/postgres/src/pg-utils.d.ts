/** The driver's conversion of values to the text that a statement takes; its types leave it out. */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): unknown;
}
