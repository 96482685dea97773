/** Label of a deployment that an import has brought; its value is the source of the archive. It stays. */
export const IMPORTED_FROM_LABEL = 'csys-imported-from';
/** Label of an imported deployment until it is activated; its value is the id of the import. */
export const QUARANTINE_LABEL = 'csys-quarantine';
