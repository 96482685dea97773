import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, instant } from './shapes';

/** License (spec v3.1 part 2 "License", reference/rest-api.md 8.3); a license with only a customer id has no other fields. */
const license = z
  .object({
    id: z.string(),
    customer_id: z.string(),
    expiration_date: instant.nullable(),
    license_edition: z.string().nullable(),
    trial: z.boolean(),
    cloudify_version: z.string().nullable(),
    capabilities: z.array(z.string()).nullable(),
    expired: z.boolean(),
  })
  .meta({ id: 'License' });
const licenseFields = Object.keys(license.shape);

const common = {
  owner: 'cluster-status',
  tenant: 'optional',
  versions: ['v3.1'],
  isOpenInMaintenance: true,
} as const;

export const licenseRoutes = defineRoutes([
  {
    ...common,
    id: 'putLicense',
    method: 'PUT',
    path: '/license',
    permission: 'license_upload',
    summary: 'Upload a license file; it replaces the one that is there',
    spec: 'v3.1-part2 License; reference 5.12, 8.3',
    rawBody: 'text',
    status: 200,
    response: license,
  },
  {
    ...common,
    id: 'postCustomer',
    method: 'POST',
    path: '/license',
    permission: 'license_upload',
    summary: 'Keep the customer id of a community edition',
    spec: 'reference 5.12',
    body: z.object({ customer_id: z.string().min(1).max(256) }),
    status: 200,
    response: license,
  },
  {
    ...common,
    id: 'listLicenses',
    method: 'GET',
    path: '/license',
    permission: 'license_list',
    summary: 'The license, if there is one',
    spec: 'v3.1-part2 License; reference 5.12',
    list: {
      fields: licenseFields,
      filters: [],
      sorts: ['id'],
      defaultSort: [{ field: 'id', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: false,
    },
    status: 200,
    response: envelope(license.partial()),
  },
  {
    ...common,
    id: 'deleteLicense',
    method: 'DELETE',
    path: '/license',
    permission: 'license_remove',
    summary: 'Remove the license',
    spec: 'v3.1-part2 License; reference 5.12',
    status: 204,
  },
  {
    ...common,
    id: 'checkLicense',
    method: 'GET',
    path: '/license-check',
    permission: 'login',
    isOpenInMaintenance: false,
    summary: 'OK unless the license is a trial that has expired; in the community edition, when there is one',
    spec: 'reference 5.12',
    status: 200,
    response: z.string(),
  },
]);
