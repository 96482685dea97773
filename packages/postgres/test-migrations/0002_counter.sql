create table counter (id int primary key, value int not null);
create function increment(target int) returns int language plpgsql as $$
begin
  update counter set value = value + 1 where id = target;
  return (select value from counter where id = target);
end
$$;
