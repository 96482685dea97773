import type { KeyObject } from 'node:crypto';
import { AppError, newId } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { productVersion } from '@baton/service-runtime';
import { readLicense } from '../adapters/license-file';
import {
  deleteLicense,
  insertCustomer,
  type LicenseItem,
  readLicenseItem,
  replaceLicense,
} from '../store/license.sql';
import type { DB } from '../store/tables.gen';

interface Deps {
  db: Db<DB>;
}

/**
 * Replaces the stored license by the license of a file, and returns it. Without a key, signatures are not checked.
 * @throws AppError of `readLicense`, for a file that is not a license for this manager.
 */
export async function uploadLicense(
  { db, key }: Deps & { key: KeyObject | null },
  text: string,
): Promise<LicenseItem | null> {
  const license = readLicense(text, { key, managerVersion: productVersion });
  if (!license.ok) throw license.error;
  return db.tx(async (tx) => {
    await replaceLicense(tx, newId(), license.value);
    return readLicenseItem(tx);
  });
}

/**
 * Stores a customer id without a license, and returns it. @throws AppError conflict_error when there is a license or a customer
 * id already.
 */
export async function keepCustomerId({ db }: Deps, customerId: string): Promise<LicenseItem | null> {
  return db.tx(async (tx) => {
    if (await insertCustomer(tx, newId(), customerId)) return readLicenseItem(tx);
    throw new AppError('conflict_error', 'There is a license or a customer id already', {
      field: 'customer_id',
    });
  });
}

/** @throws AppError not_found_error */
export async function removeLicense({ db }: Deps): Promise<void> {
  if (!(await db.tx((tx) => deleteLicense(tx))))
    throw new AppError('not_found_error', 'There is no license to remove');
}
