-- KEYS are the account's hash (its own fields, and one for each budget), the hash of its drawers, and the set of times at
-- which something ends. Everything is read when it is needed, and what was touched is written at the end.
local LAYOUT = 2
local HOLD = 1.5       -- a budget that has just begun grants nothing: drawers that know of it are to come first
local LEARN = 15       -- and so long half of it may be out unknown: longer than any drawer spends unheard
local FORGET = 3600    -- how long the share of a drawer that fell silent is left to it
local STALE = 1.5      -- a large vector whose drawer is not heard of so long collects no longer
local QUIET = 60       -- and a class that no drawer names so long is forgotten
local ALOFT = 0.3      -- seconds of the refill that are left to the others who ask
local RECALL = 1       -- seconds for which drawers are asked to give back what they do not need
local TURN, CREDIT = 5, 20 -- slots times seconds that a drawer lacks until it is its turn, and the most that is counted
local CARRY = 0.5      -- seconds of its part that a drawer may take at once
local DOUBT, DOUBTS = 2, 4 -- by how many seconds a clock may disagree, and how often in a row, until another one is believed
local MOMENT = 6       -- what levels lacked is known for the last two to three moments: longer than news takes
local TRIFLE = 1e-9
local MAX_RECORDS, MAX_NAMES, MAX_INCARNATIONS, MAX_BUDGETS, MAX_LINES, MAX_BULKS, MAX_CLASSES = 1024, 1024, 4, 1024, 512, 16, 256

local ACCOUNT, DRAWERS, TIMES = KEYS[1], KEYS[2], KEYS[3]
local huge = 1e18
local acct, budgets, names, records = nil, {}, {}, {}

local function fail(why) return redis.error_reply('HEADGATE ' .. why) end

-- clean makes a foreign number harmless.
local function clean(x)
  if type(x) ~= 'number' or x ~= x or x < 0 then return 0 end
  return math.min(x, huge)
end

local function load(key, field)
  local packed = redis.call('HGET', key, field)
  return packed and cmsgpack.unpack(packed) or nil
end

local function named(name)
  if names[name] == nil then names[name] = load(DRAWERS, 'n:' .. name) or false end
  return names[name] or nil
end

local function recorded(id)
  if records[id] == nil then records[id] = load(DRAWERS, 'r:' .. id) or false end
  return records[id] or nil
end

local function budget(name)
  if budgets[name] == nil then budgets[name] = load(ACCOUNT, 'b:' .. name) or false end
  return budgets[name] or nil
end

-- room is as far as a level may fill: the capacity less what is outstanding, or may be.
local function room(b)
  local safe, unknown = math.min(b.burst, b.B / 2), 0
  if b.born + LEARN > acct.v then unknown = b.B / 2 end
  return b.B - b.H - safe - unknown
end

-- rate is what refills: the drawers that fell silent, and gateways that do not hear theirs, have their shares beside it.
local function rate(b) return math.max(b.R - b.left - b.apart, b.R / 2) end

-- observe notes the least that the level lacked of its room, by moments: between two visits that only shrinks.
local function observe(b, at)
  local lack, now = math.max(0, room(b) - b.L), math.floor(at / MOMENT)
  for m = math.max(b.moment + 1, now - 2), now do b.lack[m % 3 + 1] = lack end
  if now > b.moment then b.moment = now end
  local i = b.moment % 3 + 1
  b.lack[i] = math.min(b.lack[i], lack)
end

-- kept is what of a level is somebody's: what vectors collected, and what classes do not lend.
local function kept(b)
  local sum = 0
  for _, v in pairs(b.collect) do sum = sum + v.e end
  for _, c in pairs(b.classes) do sum = sum + c.e end
  return sum
end

-- settle keeps a level within its room, and what is kept within the level.
local function settle(b, at)
  local most = room(b)
  if b.slots then b.L = most else b.L = math.min(b.L, most) end
  local sum, level = kept(b), math.max(0, b.L)
  if sum > level then
    for _, v in pairs(b.collect) do v.e = v.e * level / sum end
    for _, c in pairs(b.classes) do c.e = c.e * level / sum end
  end
  observe(b, at)
end

-- gain is what a refill brings: vectors collect their parts of it, and what a class does not lend is kept for it. What of
-- that it can keep no longer is lost, for nobody else is to have it.
local function gain(b, dt)
  local all = rate(b) * dt
  for _, v in pairs(b.collect) do v.e = math.min(v.e + v.rate * dt, v.cost) end
  local own = b.unlent and all / math.max(1, b.shares) or 0
  if own > 0 then
    for _, c in pairs(b.classes) do
      local some = own * c.u * c.s
      local more = math.max(0, math.min(some, c.u * c.s * b.B - c.e))
      c.e, all = c.e + more, all - (some - more)
    end
  end
  b.L = b.L + all
end

-- refill brings a budget up to a time.
local function refill(b, at)
  if b.gen ~= acct.gen then
    -- The server lost what it had been told since: the level may have been granted already.
    b.gen, b.born, b.L, b.collect = acct.gen, acct.v, math.min(b.L, 0), {}
    for _, c in pairs(b.classes) do c.e = 0 end
  end
  local dt = at - b.t
  if dt > 0 then
    b.t = at
    if not b.slots then gain(b, dt) end
  end
  settle(b, at)
end

-- touch returns a budget as of a time.
local function touch(name, at)
  local b = budget(name)
  if b then refill(b, at) end
  return b
end

local function born(line, at)
  acct.budgets = acct.budgets + 1
  return {
    slots = line.slots, R = line.rate, B = line.capacity, L = 0, H = 0, t = at, born = at, gen = acct.gen,
    classes = {}, collect = {}, shares = 0, spare = 0, left = 0, burst = 0, apart = 0, told = 0, needs = 0, asking = 0,
    lack = { 0, 0, 0 }, moment = math.floor(at / MOMENT),
  }
end

-- held is what a drawer may have of a budget; below zero is what it owes.
local function held(l) return math.max(0, l.g + l.a - l.s - l.u) end

-- reserved is the share that a drawer may take when it hears nothing: of what it was told, the most it may go by.
local function reserved(l) return math.max(l.told, l.next) end

local function save()
  local life = 86400
  for name, b in pairs(budgets) do
    if b then
      redis.call('HSET', ACCOUNT, 'b:' .. name, cmsgpack.pack(b))
      if b.R > 0 then life = math.max(life, math.min(2 * b.B / b.R, 62 * 86400)) end
    end
  end
  for name, n in pairs(names) do
    if n and (n.records > 0 or n.ghost) then
      redis.call('HSET', DRAWERS, 'n:' .. name, cmsgpack.pack(n))
    elseif n then
      redis.call('HDEL', DRAWERS, 'n:' .. name)
      acct.names = acct.names - 1
    end
  end
  for id, r in pairs(records) do
    if r and not r.gone then
      redis.call('HSET', DRAWERS, 'r:' .. id, cmsgpack.pack(r))
    elseif r then
      redis.call('HDEL', DRAWERS, 'r:' .. id)
    end
  end
  acct.life = math.max(acct.life or 0, life)
  redis.call('HSET', ACCOUNT, 'account', cmsgpack.pack(acct))
  for _, key in ipairs(KEYS) do redis.call('EXPIRE', key, math.ceil(acct.life)) end
end

-- refuse refuses a draw, and keeps what became of the account until then.
local function refuse(why)
  save()
  return fail(why)
end
