/** Visibility of a resource: shown in lists, chosen in forms, widened later. It can never be narrowed. */
import { Building2, Globe, Lock, type LucideIcon } from 'lucide-react';
import { useMay, useTenant } from '../api/api-context';
import { t } from '../text/text';
import { SelectField } from './inputs';
import cells from './row-cells.module.css';

export type Visibility = 'private' | 'tenant' | 'global';

const ORDER: readonly Visibility[] = ['private', 'tenant', 'global'];
const ICONS: Readonly<Record<Visibility, LucideIcon>> = { private: Lock, tenant: Building2, global: Globe };

export function VisibilityText({ of }: { of: Visibility }) {
  const Icon = ICONS[of];
  return (
    <span className={cells.pair}>
      <Icon size={14} aria-hidden="true" />
      {t.visibility.names[of]}
    </span>
  );
}

/** `atLeast`: the current visibility when it is changed. */
export function VisibilityField({
  value,
  onChange,
  atLeast = 'private',
  error,
}: {
  value: Visibility;
  onChange: (value: Visibility) => void;
  atLeast?: Visibility;
  error?: string | null;
}) {
  const may = useMay();
  const choices = ORDER.slice(ORDER.indexOf(atLeast)).filter(
    (one) => one !== 'global' || one === atLeast || may('create_global_resource'),
  );
  return (
    <SelectField
      label={t.visibility.label}
      hint={t.visibility.hints[value]}
      value={value}
      error={error}
      options={choices.map((one) => [one, t.visibility.names[one]] as const)}
      onChange={onChange}
    />
  );
}

/**
 * Returns a function that tells whether the user may change or delete a resource here. A resource of another tenant can be
 * changed only there.
 */
export function useMayChange(): (permission: string, of: { tenant_name: string }) => boolean {
  const may = useMay();
  const tenant = useTenant();
  return (permission, { tenant_name }) => tenant_name === tenant && may(permission);
}
