-- expand, without transaction
-- Lists of schedules tell the latest occurrence that did not run. Most schedules have none, and thousands that did.
create index concurrently schedule_occurrences_missed on schedule_occurrences (schedule_key, occurrence)
  where outcome in ('refused', 'skipped');
