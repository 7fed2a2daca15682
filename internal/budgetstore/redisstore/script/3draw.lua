-- Opening, counters and grants of one draw.

local function open(id, req)
  local n = named(req.drawer)
  if not n then
    if acct.names >= MAX_NAMES then return nil, 'FULL there are too many drawers' end
    acct.names = acct.names + 1
    n = { heard = 0, records = 0, ids = {} }
    names[req.drawer] = n
  end
  if acct.records >= MAX_RECORDS then return nil, 'FULL there are too many drawers' end
  if n.records >= MAX_INCARNATIONS then return nil, 'FULL there are too many incarnations of this drawer' end
  acct.records, n.records = acct.records + 1, n.records + 1
  n.ids[id] = acct.n
  local r = {
    name = req.drawer, seq = 0, doubts = 0, heard = false, sure = acct.v, over = acct.v, drain = 0,
    larges = {}, lines = {}, opened = acct.n,
  }
  records[id] = r
  return r
end

-- hear counts a drawer among those that are heard, which take no share beside what they are granted.
local function hear(r)
  if r.heard then return end
  lay(r.name, acct.v)
  r.heard = true
  acct.heard = acct.heard + 1
  local n = named(r.name)
  n.heard = n.heard + 1
end

-- prolong notes until when the drawer surely has its lease, and until when it may spend what it has. It had heard the stamp
-- before it said how long its lease lasts.
local function prolong(id, r, req)
  r.over = acct.v + (req.life + req.held) * 1.02
  r.drain = req.drain
  if req.stamp > 0 and not r.anchor then r.anchor = acct.v - req.elapsed end
  if req.lease > 0 then
    local sure = math.min(req.stamp, acct.v) + math.min(req.lease, req.life) * 0.98
    if sure > acct.v then
      r.sure = math.max(r.sure, sure)
      hear(r)
    end
  end
  schedule('r:' .. id, r.heard and r.sure or r.over)
end

-- raise lets more be outstanding that was not granted: what was spent and is not after all, or what a drawer has that this
-- server does not know of. It comes out of the level as far as it would not have fitted beside that when it was so.
local function raise(b, more)
  if more <= 0 then return end
  local fits = math.max(0, math.min(more, b.lack[1], b.lack[2], b.lack[3]))
  b.L = b.L - (more - fits)
  for i = 1, 3 do b.lack[i] = math.max(0, b.lack[i] - fits) end
end

-- inherit takes slots over from earlier incarnations of a name that are not heard any longer: the calls in them are the same.
-- Who is heard has heard an answer itself, so that those which began before it have ended; of a late message's that is not so.
local function inherit(r, name, b, most)
  if not r.heard then return end
  for id, opened in pairs(named(r.name).ids) do
    local o = opened < r.opened and recorded(id)
    local l = o and not o.gone and not o.heard and o.lines[name]
    if l then
      local x = math.min(most, held(l))
      l.u, b.H, most = l.u + x, math.max(0, b.H - x), most - x
    end
  end
end

-- sweep forgets the budgets that nobody has drawn on for long and of which nothing is out: those of policies that are no
-- more. Names come and go, and would fill the account in the end.
local function sweep()
  local all = redis.call('HGETALL', ACCOUNT)
  for i = 1, #all, 2 do
    local name = string.sub(all[i], 3)
    if string.sub(all[i], 1, 2) == 'b:' and budgets[name] == nil then
      local b = cmsgpack.unpack(all[i + 1])
      local idle = b.t + FORGET < acct.v and b.H <= 0 and b.left <= 0 and b.burst <= 0 and b.asking <= 0 and b.apart <= 0
      if idle then
        redis.call('HDEL', ACCOUNT, all[i])
        budgets[name], acct.budgets = false, acct.budgets - 1
      end
    end
  end
end

-- line returns a drawer's side of a budget, and the budget; both may begin here.
local function line(r, want)
  local b, l = touch(want.name, acct.v), r.lines[want.name]
  if not b then
    if acct.budgets >= MAX_BUDGETS then sweep() end
    if acct.budgets >= MAX_BUDGETS then return nil, nil, 'FULL there are too many budgets' end
    b = born(want, acct.v)
    budgets[want.name] = b
    r.lines[want.name], l = nil, nil
  elseif b.slots ~= want.slots then
    return nil, nil, 'KIND the budget ' .. want.name .. ' is of another kind'
  end
  local edited = false
  if not l then
    l = {
      g = want.got, s = want.spent, u = want.returned, a = want.raised, need = 0, part = 0, at = acct.v,
      bulk = 0, safe = 0, burst = 0, apart = 0, told = 0, next = 0, c = {},
    }
    r.lines[want.name] = l
    local had = held(l)
    if b.slots then inherit(r, want.name, b, had) end
    b.H = b.H + had
    raise(b, had)
    edited = true
  end
  edited = edited or l.rate ~= want.rate or l.capacity ~= want.capacity
  l.rate, l.capacity = want.rate, want.capacity
  if edited then strictest(want.name, acct.v) end
  return l, b
end

-- class is one of a budget's; those for which there is no room are together.
local function class(b, name)
  local c = b.classes[name]
  if not c then
    local n = 0
    for _ in pairs(b.classes) do n = n + 1 end
    if n >= MAX_CLASSES then name, c = '', b.classes[''] end
    if not c then
      c = { s = 0, w = 1, u = 0, n = 0, k = 0, e = 0, part = 0 }
      b.classes[name] = c
    end
  end
  c.at = acct.v
  return c, name
end

-- state takes in what the classes of a drawer are and need.
local function state(b, l, want)
  local needs = {}
  for _, x in ipairs(want.claims) do
    local c
    c, x.class = class(b, x.class)
    if x.class ~= '' then c.s, c.w, c.u = math.min(x.share, 1), math.max(x.weight, 1e-3), math.min(x.unlent, 1) end
    needs[x.class] = (needs[x.class] or 0) + x.need
    claim(b, l, x.class, needs[x.class])
  end
  for name in pairs(l.c) do
    if not needs[name] then claim(b, l, name, 0) end
  end
end

-- count takes in a drawer's counters: the largest of each, as far as it can be true.
local function count(b, r, l, want)
  local before = held(l)
  if want.got > l.g then
    -- The server lost that it granted this.
    l.g = want.got
  end
  local more = math.max(0, want.raised - l.a)
  if b.slots then inherit(r, want.name, b, want.whole and huge or more) end
  l.a = l.a + more
  l.s = math.max(l.s, want.spent)
  local back = math.max(0, math.min(want.returned - l.u, l.g + l.a - l.s - l.u))
  l.u = l.u + back
  b.H = math.max(0, b.H + held(l) - before)
  l.bulk = math.min(l.bulk, held(l))
  b.L = b.L + back
  raise(b, more)
  l.safe, l.burst = want.safe, want.burst
  b.apart = math.max(0, b.apart + want.apart - l.apart)
  l.apart = want.apart
  if (l.need > 0) ~= (want.need > 0) then b.asking = b.asking + (want.need > 0 and 1 or -1) end
  b.needs = math.max(0, b.needs + want.need - l.need)
  l.need = want.need
  state(b, l, want)
  settle(b, acct.v)
end
