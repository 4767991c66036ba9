-- +goose Up

-- What happened, in order. Rows are added at the end and never changed.
create table event (
  seq  integer primary key, -- from 1, without gaps
  run  text    not null,
  at   integer not null,    -- nanoseconds since 1970, UTC
  kind text    not null,
  data text    not null,    -- the fact as JSON
  hash blob    not null     -- SHA-256 over the hash before and this row
) strict;

create index event_run on event (run);
create index event_money on event (at) where kind in ('budget.reserved', 'budget.spent');

-- +goose StatementBegin
create trigger event_never_changes before update on event begin
  select raise(abort, 'an event never changes');
end;
-- +goose StatementEnd
-- +goose StatementBegin
create trigger event_never_goes before delete on event begin
  select raise(abort, 'an event never goes');
end;
-- +goose StatementEnd

-- The end of the chain, so that events cut off the end are missed.
create table head (
  one  integer primary key check (one = 1),
  seq  integer not null,
  hash blob    not null
) strict;

insert into head values (1, 0, zeroblob(32));

-- Who may append to a run. A row stays when its holder goes: the fence only
-- grows.
create table lease (
  run     text    primary key,
  fence   integer not null,
  pid     integer not null, -- 0 when nobody holds it
  host    text    not null,
  start   integer not null, -- of the process, in clock ticks since boot
  place   text    not null, -- boot and process namespace, empty when unknown
  expires integer not null  -- nanoseconds since 1970, UTC
) strict, without rowid;
