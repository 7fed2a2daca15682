-- What ends by itself: a drawer's lease, after which it lives on its share; what it had in hand, which is spent then; its
-- slots, when no call can be in flight any longer; and its name.

local function schedule(id, at) redis.call('ZADD', TIMES, string.format('%.17g', at), id) end

-- stated are all drawers as they are in the store: read once in a draw, for what they state only.
local stated

local function everybody()
  if not stated then
    stated = {}
    local all = redis.call('HGETALL', DRAWERS)
    for i = 1, #all, 2 do
      if string.sub(all[i], 1, 2) == 'r:' then stated[string.sub(all[i], 3)] = cmsgpack.unpack(all[i + 1]) end
    end
  end
  return stated
end

-- strictest takes for a budget the least rate and capacity that a drawer states. A level shrinks with its capacity and
-- grows with none.
local function strictest(name, at)
  local R, B = nil, nil
  local function add(r)
    local l = r and not r.gone and r.lines[name]
    if l then R, B = math.min(R or l.rate, l.rate), math.min(B or l.capacity, l.capacity) end
  end
  for _, r in pairs(records) do add(r) end
  for id, r in pairs(everybody()) do
    if records[id] == nil then add(r) end
  end
  local b = touch(name, at)
  if not b or not R or (R == b.R and B == b.B) then return end
  if B < b.B and b.L > 0 then b.L = b.L * B / b.B end
  b.R, b.B = R, B
  settle(b, at)
end

-- claim has a drawer need so much of a class, and no more of those that it does not name.
local function claim(b, l, class, need)
  local mine, c = l.c[class], b.classes[class]
  local had = mine and mine.need or 0
  if c then
    c.n = math.max(0, c.n + need - had)
    c.k = c.k + (need > 0 and 1 or 0) - (had > 0 and 1 or 0)
    if c.k <= 0 then c.k, c.n = 0, 0 end
  end
  if need > 0 then
    if not mine then
      mine = { part = 0, at = acct.v }
      l.c[class] = mine
    end
    mine.need = need
  elseif mine then
    l.c[class] = nil
  end
end

-- drop ends what the vectors of a drawer collect, but for those of lanes that wait.
local function drop(b, id, waits)
  for key, v in pairs(b.collect) do
    if v.own == id and not waits[key] then b.collect[key] = nil end
  end
end

-- hush takes a drawer out of those that are heard, and leaves to its name what it may spend now.
local function hush(id, r, at)
  r.heard = false
  acct.heard = acct.heard - 1
  local n = named(r.name)
  n.heard = n.heard - 1
  local last = n.heard == 0 and not r.bye
  if last then n.ghost, n.till = {}, at + FORGET end
  for name, l in pairs(r.lines) do
    local b = touch(name, at)
    if b then
      b.apart = math.max(0, b.apart - l.apart)
      b.told = math.max(0, b.told - reserved(l))
      if l.need > 0 then b.asking, b.needs = b.asking - 1, math.max(0, b.needs - l.need) end
      for class in pairs(l.c) do claim(b, l, class, 0) end
      drop(b, id, {})
      if last then
        local share = math.max(reserved(l), l.safe)
        local g = b.slots and { 0, math.min(share, b.B / 2) } or { math.min(share, b.R / 2), l.burst }
        n.ghost[name] = g
        b.left, b.burst = b.left + g[1], b.burst + g[2]
      end
      settle(b, at)
    end
    l.apart, l.need, l.told, l.next = 0, 0, 0, 0
  end
  if last then schedule('n:' .. r.name, n.till) end
end

-- lay takes the share back that was left to a name.
local function lay(name, at)
  local n = named(name)
  if not n or not n.ghost then
    redis.call('ZREM', TIMES, 'n:' .. name)
    return
  end
  for of, g in pairs(n.ghost) do
    local b = touch(of, at)
    if b then
      b.left, b.burst = math.max(0, b.left - g[1]), math.max(0, b.burst - g[2])
      settle(b, at)
    end
  end
  n.ghost, n.till = nil, nil
  redis.call('ZREM', TIMES, 'n:' .. name)
end

-- burn counts as spent what a drawer had. It is true when nothing of it is left.
local function burn(r, slots, at)
  local all = true
  for name, l in pairs(r.lines) do
    local b = touch(name, at)
    if b and b.slots and not slots and held(l) > 0 then
      all = false
    elseif b then
      b.H = math.max(0, b.H - held(l))
      l.s = l.s + held(l)
      settle(b, at)
    end
  end
  return all
end

local function close(id, r, at)
  r.gone = true
  redis.call('ZREM', TIMES, 'r:' .. id)
  acct.records = acct.records - 1
  local n = named(r.name)
  n.records = n.records - 1
  n.ids[id] = nil
  for name, l in pairs(r.lines) do
    local b = budget(name)
    if b and (l.rate <= b.R or l.capacity <= b.B) then strictest(name, at) end
  end
end

local function ends(id, at)
  local r = recorded(id)
  if not r or r.gone then
    redis.call('ZREM', TIMES, 'r:' .. id)
    return
  end
  if r.heard and r.sure <= at then hush(id, r, at) end
  if r.over <= at and burn(r, r.over + r.drain <= at, at) then
    close(id, r, at)
  elseif r.over <= at then
    schedule('r:' .. id, r.over + r.drain)
  else
    schedule('r:' .. id, r.heard and r.sure or r.over)
  end
end

-- pass lets everything end that has lasted its time, each at its own.
local function pass(to)
  for _ = 1, 4 * MAX_RECORDS do
    local due = redis.call('ZRANGE', TIMES, 0, 0, 'WITHSCORES')
    if #due == 0 or tonumber(due[2]) > to then return end
    local kind, id, at = string.sub(due[1], 1, 2), string.sub(due[1], 3), tonumber(due[2])
    acct.v = math.max(acct.v, at)
    if kind == 'r:' then ends(id, acct.v) else lay(id, acct.v) end
  end
end

-- doubt decides between the server's clock and a drawer's, which disagree for some draws in a row: one may have been long
-- under way. If no other drawer agrees with the server its clock was set: time goes on as the drawer's shows, but from where
-- it was when that is later, for a level that was full then must not fill again by what was missed.
local function doubt(r, at, elapsed)
  r.doubts = r.doubts + 1
  if r.doubts == 1 then r.doubted = acct.n end
  if r.doubts < DOUBTS then return acct.v end
  if acct.agreed < r.doubted then
    local claim = r.anchor + elapsed
    local set = claim < at and math.max(acct.v, claim) or acct.v
    acct.off, at = acct.off + set - at, set
  end
  r.anchor, r.doubts = at - elapsed, 0
  return at
end

-- now brings the account's own time up to the present. It is the server's, but never goes back; and the clocks of drawers,
-- which nobody sets, show whether the server's was set. r.anchor is the account's time when the drawer's clock showed 0.
local function now(r, elapsed)
  local at = server_time() + acct.off
  if r and r.anchor then
    if math.abs(at - r.anchor - elapsed) <= DOUBT then
      r.doubts, acct.agreed = 0, acct.n
    else
      at = doubt(r, at, elapsed)
    end
  elseif acct.records > 0 then
    if at > acct.v + DOUBT then at = acct.v end
  elseif at < acct.v - DOUBT then
    acct.off, at = acct.off + acct.v - at, acct.v
  end
  at = math.max(at, acct.v)
  pass(at)
  acct.v = at
end
