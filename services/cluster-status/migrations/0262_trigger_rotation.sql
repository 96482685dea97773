-- expand
-- The secret of a trigger before its last rotation, which stays valid for a time. A release before this one takes the new one only.
alter table triggers
  -- Sealed by the secrets service, as `sealed` is.
  add column former_sealed bytea,
  add column former_until timestamptz;
alter table triggers
  add constraint triggers_former check ((former_sealed is null) = (former_until is null)) not valid;
