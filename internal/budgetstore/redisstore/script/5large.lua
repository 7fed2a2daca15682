-- Large vectors are granted in the order in which they came, each whole. They collect a part of the refill of all their budgets.

local function aloft(b, l)
  local others = b.asking - (l and l.need > 0 and 1 or 0)
  return others > 0 and ALOFT * rate(b) or 0
end

local function take(b, l, x)
  b.L, b.H, l.g = b.L - x, b.H + x, l.g + x
end

-- collect has a vector collect on its budgets where none of its lane that came before does.
local function collect(id, ticket, vector, lines)
  for _, part in ipairs(vector.parts) do
    local b, n = lines[part.line].b, 0
    local v = b.collect[vector.key]
    for _ in pairs(b.collect) do n = n + 1 end
    if (v or n < MAX_CLASSES) and (not v or v.own == id or acct.v - v.seen > STALE or v.ticket > ticket) then
      local _, name = class(b, vector.class)
      b.collect[vector.key] = {
        own = id, ticket = ticket, seen = acct.v, cost = math.min(part.units, b.B), share = math.min(part.share, 1),
        class = name, e = v and math.min(v.e, part.units) or 0, rate = v and v.rate or 0,
      }
    end
  end
end

-- goes says whether a vector can be granted: what it collected suffices, or what is there beside what is kept for others.
local function goes(id, vector, lines)
  local whole = true
  for _, part in ipairs(vector.parts) do
    local b, l = lines[part.line].b, lines[part.line].l
    local c, v = math.min(part.units, b.B), b.collect[vector.key]
    if b.L + TRIFLE * b.B < c or b.born + HOLD > acct.v then return false end
    local own = v and v.own == id and v.e or 0
    if own + TRIFLE * b.B < c then
      local mine = b.classes[vector.class]
      local others = kept(b) - own - (mine and mine.e or 0)
      if b.L - c < aloft(b, l) + others then whole = false end
    end
  end
  return whole
end

-- use takes of what a class does not lend.
local function use(b, name, x)
  local c = b.classes[name]
  if c then c.e = math.max(0, c.e - x) end
end

-- pay grants a vector.
local function pay(id, vector, lines)
  for _, part in ipairs(vector.parts) do
    local b, l = lines[part.line].b, lines[part.line].l
    local c, v = math.min(part.units, b.B), b.collect[vector.key]
    take(b, l, c)
    l.bulk = l.bulk + c
    local own = v and v.own == id and v.e or 0
    if v and v.own == id then b.collect[vector.key] = nil end
    use(b, vector.class, c - math.min(own, c))
  end
end

-- number returns what a drawer's large calls of a lane came to: n counts those that were granted.
local function number(r, vector)
  local k = r.larges[vector.key] or { n = 0, waits = 0 }
  r.larges[vector.key], k.named = k, acct.n
  -- The server may have lost what it granted.
  k.n = math.max(k.n, vector.number - (vector.first and 1 or vector.number))
  if k.waits ~= k.n + 1 then
    k.waits, acct.tickets = k.n + 1, acct.tickets + 1
    k.ticket = acct.tickets
  end
  return k
end

-- vectors grants the large calls of a draw, in each lane from the first that was not granted yet. It says whether one waits for
-- what drawers have in hand.
local function vectors(id, r, req, lines)
  local blocked, lacks, seen = {}, false, {}
  for i = 1, math.min(#req.vectors, MAX_BULKS) do
    local vector = req.vectors[i]
    vector.first, seen[vector.key] = not seen[vector.key], true
    local k = number(r, vector)
    if not blocked[vector.key] and vector.number > k.n then
      collect(id, k.ticket, vector, lines)
      if goes(id, vector, lines) then
        pay(id, vector, lines)
        k.n = k.n + 1
      else
        blocked[vector.key] = true
        for _, part in ipairs(vector.parts) do
          local b = lines[part.line].b
          lacks = lacks or math.min(part.units, b.B) > room(b)
        end
      end
    end
  end
  for key, k in pairs(r.larges) do
    if k.named ~= acct.n then r.larges[key] = nil end
  end
  for _, x in ipairs(lines) do drop(x.b, id, blocked) end
  return lacks
end

