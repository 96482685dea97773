import type { KeyObject } from 'node:crypto';
import { licenseRoutes } from '@baton/contracts/http/license';
import { type BoundRoute, bindRoutes, listEnvelope, pickFields } from '@baton/http';
import type { Db } from '@baton/postgres';
import { keepCustomerId, removeLicense, uploadLicense } from '../commands/license';
import { checkLicense, listLicenses } from '../queries/license';
import type { DB } from '../store/tables.gen';
import { type Edition, requireCommunity } from './edition';

export interface LicenseDeps {
  db: Db<DB>;
  edition: Edition;
  /** Null: signatures are not checked. */
  key: KeyObject | null;
}

/** License (spec v3.1 part 2, reference/rest-api.md 5.12). */
export function licenseHttp(deps: LicenseDeps): BoundRoute[] {
  return bindRoutes(licenseRoutes, {
    putLicense: (call) => uploadLicense(deps, call.text),
    async postCustomer(call) {
      requireCommunity(deps.edition);
      return keepCustomerId(deps, call.body.customer_id);
    },
    async listLicenses({ list }) {
      const page = await listLicenses(deps, list);
      const { include } = list;
      const items = include ? page.items.map((one) => pickFields(one, include)) : page.items;
      return listEnvelope({ ...page, items }, list);
    },
    async deleteLicense() {
      await removeLicense(deps);
    },
    async checkLicense() {
      // Clients of a premium manager call this before each upload and stop when there is no license; Baton needs no license.
      await checkLicense(deps, deps.edition === 'community');
      return 'OK';
    },
  });
}
