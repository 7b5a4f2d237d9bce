-- Today is another day in two time zones that are 26 hours apart. A row if not.
select 1 as row_number where {{ protime.today_in('Etc/GMT-14') }} <= {{ protime.today_in('Etc/GMT+12') }}
