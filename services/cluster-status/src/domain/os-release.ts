/** Name and release of the operating system. */
export interface OsRelease {
  distribution: string;
  release: string;
}

/** Parses the text of /etc/os-release; a missing value is an empty text. */
export function parseOsRelease(text: string): OsRelease {
  const value = (name: string): string => {
    const line = text.split('\n').find((one) => one.startsWith(`${name}=`));
    return line ? line.slice(name.length + 1).replace(/^"|"$/g, '') : '';
  };
  return { distribution: value('ID'), release: value('VERSION_CODENAME') || value('VERSION_ID') };
}
