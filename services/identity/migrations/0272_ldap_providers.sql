-- expand
-- Identity providers of type ldap: settings of the directory. Columns of OpenID Connect are empty for them, and this one is null for those.
-- {"format": 1, "settings": {"urls", "bind_dn", "user_base", ...}} (src/providers/domain/ldap-settings.ts)
alter table identity_providers add column ldap jsonb;
