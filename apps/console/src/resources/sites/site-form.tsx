import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { t } from '../../text/text';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/inputs';
import { type Visibility, VisibilityField } from '../../ui/visibility';
import { type Place, placeOf, readPlace } from './site-place';
import { changeSite, createSite, SITES, type SiteRow } from './sites';

/** Creates a site (`site` is null), or changes name, place or visibility of one. */
export function SiteForm({ site, onClose }: { site: SiteRow | null; onClose: () => void }) {
  const [name, setName] = useState(site?.name ?? '');
  const [place, setPlace] = useState<Place>(placeOf(site));
  const [visibility, setVisibility] = useState<Visibility>(site?.visibility ?? 'tenant');
  const [errors, setErrors] = useState<Record<string, string>>({});
  const save = useChange(
    [SITES, 'deployments'],
    (client, tenant, location: string): Promise<unknown> =>
      site
        ? changeSite(client, tenant, site.name, {
            location,
            visibility,
            ...(name !== site.name && { new_name: name }),
          })
        : createSite(client, tenant, { name, visibility, ...(location && { location }) }),
    onClose,
  );
  const submit = (): void => {
    const read = readPlace(place);
    setErrors(read.errors);
    if (Object.keys(read.errors).length === 0) save.mutate(read.location);
  };
  return (
    <FormDialog
      title={site ? t.sites.editOf(site.name) : t.sites.create}
      submit={site ? t.resource.save : t.sites.submit}
      mutation={save}
      onSubmit={submit}
      onClose={onClose}
      errors={errors}
      isIncomplete={name === ''}
    >
      {(errorOf) => (
        <>
          <TextField
            label={t.sites.name}
            value={name}
            onChange={setName}
            error={errorOf('name') ?? errorOf('new_name')}
            isRequired
          />
          <TextField
            label={t.sites.latitude}
            hint={t.sites.latitudeHint}
            inputMode="decimal"
            value={place.latitude}
            onChange={(latitude) => setPlace({ ...place, latitude })}
            error={errorOf('latitude') ?? errorOf('location')}
          />
          <TextField
            label={t.sites.longitude}
            hint={t.sites.longitudeHint}
            inputMode="decimal"
            value={place.longitude}
            onChange={(longitude) => setPlace({ ...place, longitude })}
            error={errorOf('longitude')}
          />
          <VisibilityField
            value={visibility}
            atLeast={site?.visibility}
            onChange={setVisibility}
            error={errorOf('visibility')}
          />
        </>
      )}
    </FormDialog>
  );
}
