import { type Item, recordReader } from '@baton/cloudify-archive';
import { ownerOf, recordImporter, visibilityOf } from '@baton/import-part';
import { type Location, parseLocation } from '../domain/site-location';

/** Returns the location, and whether its text could not be read. */
function locationOf(text: string | null): { location: Location | null; isBroken: boolean } {
  try {
    return { location: parseLocation(text), isBroken: false };
  } catch {
    return { location: null, isBroken: true };
  }
}

const BROKEN = { code: 'location-unreadable', text: 'its location cannot be read and is left out' };

/** Sites, by name. */
export const sites = recordImporter<Item<'sites'>>({
  type: 'sites',
  read: recordReader('sites'),
  idOf: ({ name }) => name,
  async met({ client, tenant }, records) {
    const { rows } = await client.query<{ name: string; met: string }>(
      'select name, md5(s::text) as met from sites s where tenant = $1 and name = any($2::text[])',
      [tenant, records.map(({ id }) => id)],
    );
    return new Map(rows.map(({ name, met }) => [name, met]));
  },
  async write({ client, tenant }, records) {
    const remarks = new Map<string, typeof BROKEN>();
    const rows = records.map(({ id, item }) => {
      const { location, isBroken } = locationOf(item.location);
      if (isBroken) remarks.set(id, BROKEN);
      return {
        name: item.name,
        latitude: location?.latitude ?? null,
        longitude: location?.longitude ?? null,
        visibility: visibilityOf(item.visibility),
        created_by: ownerOf(item.created_by),
        created_at: item.created_at,
      };
    });
    await client.query(
      `insert into sites (tenant, name, latitude, longitude, visibility, created_by, created_at)
       select $1, s.name, s.latitude, s.longitude, s.visibility, s.created_by, coalesce(s.created_at, app_now())
       from json_to_recordset($2::json) as s(name text, latitude float8, longitude float8, visibility text, created_by text,
         created_at timestamptz)
       on conflict (tenant, name) do update set latitude = excluded.latitude, longitude = excluded.longitude,
         visibility = excluded.visibility, created_by = excluded.created_by, created_at = excluded.created_at`,
      [tenant, JSON.stringify(rows)],
    );
    return remarks;
  },
});
