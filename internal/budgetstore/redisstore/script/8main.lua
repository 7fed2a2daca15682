local req = cjson.decode(ARGV[1])
if #KEYS ~= 3 or type(req.drawer) ~= 'string' or #req.lines > MAX_LINES then return fail('REQUEST it is not understood') end
local id = req.drawer .. '/' .. req.incarnation

acct = load(ACCOUNT, 'account')
if acct and acct.layout < LAYOUT then
  -- What an earlier layout says is not read: the account begins anew, as after a flush.
  redis.call('EXPIRE', ACCOUNT, 0)
  acct = nil
end
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
  want.claims = want.claims or {}
  if #want.claims == 0 then
    want.claims[1] = { class = '', share = 0, weight = 1, unlent = 0, lack = math.max(0, want.want - want.got), need = want.need }
  end
  for _, x in ipairs(want.claims) do
    x.new = 0
    if not (fresh and r.heard) then x.need, x.lack = 0, 0 end
  end
  if not (fresh and r.heard) then want.need, want.apart = 0, 0 end
  local l, b, why = line(r, want)
  if why then return refuse(why) end
  if fresh then
    count(b, r, l, want)
    heed(b, l, same and req.version or 0)
  end
  lines[i] = { l = l, b = b, want = want }
end
if fresh and req.leaving then
  leave(id, r)
elseif fresh and r.heard then
  local waits = vectors(id, r, req, lines)
  for _, x in ipairs(lines) do
    divide(x.b)
    if waits then x.b.recall = acct.v end
    if x.b.slots then slots(id, x.b, x.l, x.want) else small(x.b, x.l, x.want) end
    tell(x.b, x.l)
  end
end

local recall = 0
local larges = {}
for i, vector in ipairs(req.vectors) do
  local k = r.larges[vector.key]
  larges[i] = tostring(k and k.n or 0)
end
local answer = { string.format('%.6f', acct.v), acct.id, tostring(acct.n), tostring(acct.heard), table.concat(larges, ' '), '0' }
for _, x in ipairs(lines) do
  local b, mine = x.b, false
  for _, v in pairs(b.collect) do mine = mine or v.own == id end
  if b.recall and acct.v - b.recall < RECALL and not mine then recall = 1 end
  settle(b, acct.v)
  answer[#answer + 1] = said(id, x)
end
answer[6] = tostring(recall)
save()
return answer
