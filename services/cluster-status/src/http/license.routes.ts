import type { KeyObject } from 'node:crypto';
import { licenseRoutes } from '@baton/contracts/http/license';
import { type BoundRoute, bindRoutes, listEnvelope, pickFields } from '@baton/http';
import { AppError, newId } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { productVersion } from '@baton/service-runtime';
import { readLicense } from '../adapters/license-file';
import { licenseProblem } from '../domain/license-check';
import { deleteLicense, insertCustomer, readLicenseItem, replaceLicense } from '../store/license.sql';
import type { DB } from '../store/tables.gen';
import { type Edition, requireCommunity } from './edition';

export interface LicenseDeps {
  db: Db<DB>;
  edition: Edition;
  /** Null: signatures are not looked at. */
  key: KeyObject | null;
}

/** License (spec v3.1 part 2, reference/rest-api.md 5.12). */
export function licenseHttp({ db, edition, key }: LicenseDeps): BoundRoute[] {
  return bindRoutes(licenseRoutes, {
    async putLicense(call) {
      const license = readLicense(call.text, { key, managerVersion: productVersion });
      if (!license.ok) throw license.error;
      return db.tx(async (tx) => {
        await replaceLicense(tx, newId(), license.value);
        return readLicenseItem(tx);
      });
    },
    async postCustomer(call) {
      requireCommunity(edition);
      return db.tx(async (tx) => {
        if (await insertCustomer(tx, newId(), call.body.customer_id)) return readLicenseItem(tx);
        throw new AppError('conflict_error', 'There is a license or a customer id already', {
          field: 'customer_id',
        });
      });
    },
    async listLicenses(call) {
      const item = await readLicenseItem(db.query);
      const all = item ? [item] : [];
      const shown = all.slice(call.list.offset, call.list.offset + call.list.size);
      const { include } = call.list;
      const items = include ? shown.map((one) => pickFields(one, include)) : shown;
      return listEnvelope({ items, total: all.length }, call.list);
    },
    async deleteLicense() {
      if (!(await db.tx((tx) => deleteLicense(tx))))
        throw new AppError('not_found_error', 'There is no license to remove');
    },
    async checkLicense() {
      // Clients of a premium manager ask before each upload and give up without one, which Baton does not need.
      const problem = licenseProblem(await readLicenseItem(db.query), edition === 'community');
      if (problem) throw problem;
      return 'OK';
    },
  });
}
