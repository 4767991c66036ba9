-- +goose Up

-- Small blobs, each written in the transaction of an event that came after it,
-- so that a blob which an event names is there whenever the event is.
create table blob (
  id   integer primary key,
  hash text    not null unique, -- SHA-256 of data, in hexadecimal digits
  data blob    not null
) strict;
