local req = cjson.decode(ARGV[1])
if #KEYS ~= 3 or type(req.drawer) ~= 'string' or #req.lines > MAX_LINES then return fail('REQUEST it is not understood') end
local id = req.drawer .. '/' .. req.incarnation

acct = load(ACCOUNT, 'account')
if not acct then
  -- Of three keys one may be lost alone: what the others say is of an account that is no more.
  redis.call('EXPIRE', DRAWERS, 0)
  redis.call('EXPIRE', TIMES, 0)
  local at = server_time()
  acct = {
    layout = LAYOUT, id = string.format('%.6f/%s', at, req.incarnation), n = 0, v = at, off = 0, agreed = 0, gen = 1,
    heard = 0, records = 0, names = 0, budgets = 0, tickets = 0,
  }
end
if acct.layout > LAYOUT then return fail('LAYOUT a newer version keeps this account: ' .. acct.layout) end

local r = recorded(id)
now(r, req.elapsed)
r = recorded(id)
if r and r.gone then
  -- It was closed just now: it begins again.
  records[id], r = false, nil
end
if req.instance == acct.id and req.version > acct.n then acct.gen, acct.n = acct.gen + 1, req.version end
acct.n = acct.n + 1
if not r then
  local why
  r, why = open(id, req)
  if not r then return refuse(why) end
end

local fresh = req.sequence > r.seq
if fresh then
  r.seq = req.sequence
  prolong(id, r, req)
end
local lines, same = {}, req.instance == acct.id
for i, want in ipairs(req.lines) do
  if not (fresh and r.heard) then want.need, want.apart = 0, 0 end
  local l, b, why = line(r, want)
  if why then return refuse(why) end
  if fresh then
    count(b, l, want)
    heed(b, l, same and req.version or 0)
  end
  lines[i] = { l = l, b = b, want = want }
end
if fresh and req.leaving then
  leave(id, r)
elseif fresh and r.heard then
  local waits = vectors(id, r, req, lines)
  for _, x in ipairs(lines) do
    if waits then x.b.recall = acct.v end
    small(x.b, x.l, x.want)
    tell(x.b, x.l)
  end
end

local recall = 0
local answer = { string.format('%.6f', acct.v), acct.id, tostring(acct.n), tostring(acct.heard), tostring(r.bulks), '0' }
for i, x in ipairs(lines) do
  if x.b.recall and acct.v - x.b.recall < RECALL and x.b.own ~= id then recall = 1 end
  settle(x.b, acct.v)
  answer[#answer + 1] = string.format('%.17g %.17g %.17g %.17g %.17g', x.l.g, x.l.next, part(x.b, x.l), x.b.L, x.b.H)
end
answer[6] = tostring(recall)
save()
return answer
