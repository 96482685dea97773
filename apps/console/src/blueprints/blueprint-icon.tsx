import { useQuery } from '@tanstack/react-query';
import { Package } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useApi, useTenant } from '../api/api-context';
import { iconQuery } from '../api/blueprints';
import styles from './blueprint-icon.module.css';

interface BlueprintIconProps {
  blueprint: { id: string; has_icon: boolean };
  isLarge?: boolean;
}

/** The icon of a blueprint, else the default icon. It has no alternative text: the name stands beside it. */
export function BlueprintIcon({ blueprint, isLarge = false }: BlueprintIconProps) {
  const url = useIcon(blueprint);
  const look = `${styles.icon} ${isLarge ? styles.large : ''}`;
  if (url === null) return isLarge ? null : <Package className={look} size={20} aria-hidden="true" />;
  return <img className={look} src={url} alt="" />;
}

/** Returns an object URL of the icon. An image element could not send the tenant that the manager requires. */
function useIcon({ id, has_icon }: BlueprintIconProps['blueprint']): string | null {
  const { client } = useApi();
  const { data } = useQuery({ ...iconQuery(client, useTenant(), id), enabled: has_icon });
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    if (!data) return;
    const made = URL.createObjectURL(data);
    setUrl(made);
    return () => {
      URL.revokeObjectURL(made);
      setUrl(null);
    };
  }, [data]);
  return url;
}
