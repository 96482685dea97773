import { type Catalogue, en } from './en';

/** The catalogue in use. The choice by `navigator.languages` comes here when there is a second one. */
export const t: Catalogue = en;

/** A status in words; the word of the API where the catalogue has none. */
export const statusText = (status: string | null | undefined): string =>
  status ? (t.status[status] ?? status.replaceAll('_', ' ')) : t.none;
