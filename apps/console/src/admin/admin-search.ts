/** Search parameters in the addresses of the administration's screens. Part of the shell's bundle, so this file stays small. */
import { textOf } from '../search-params';

export interface RolesSearch {
  permission?: string;
  role?: string;
}

export const readRolesSearch = (search: Record<string, unknown>): RolesSearch => ({
  permission: textOf(search.permission),
  role: textOf(search.role),
});

export interface ConfigSearch {
  scope?: string;
  name?: string;
}

export const readConfigSearch = (search: Record<string, unknown>): ConfigSearch => ({
  scope: textOf(search.scope),
  name: textOf(search.name),
});
