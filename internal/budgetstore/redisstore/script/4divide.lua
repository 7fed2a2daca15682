-- What there is is divided among classes: each has its share, and what is left goes by max-min and weight to those that need
-- more; a class's part is divided among the drawers that ask.

local function has(x, of) return x > TRIFLE * of end

-- spread adds to what claims have, by max-min in proportion to their weights and up to what they need. It returns what
-- nobody needs.
local function spread(claims, left)
  while left > 0 do
    local weights, least = 0, nil
    for _, o in ipairs(claims) do
      if o.need > o.has then
        weights = weights + o.weight
        least = math.min(least or huge, (o.need - o.has) / o.weight)
      end
    end
    if weights == 0 then break end
    local each = math.min(least, left / weights)
    for _, o in ipairs(claims) do
      if o.need > o.has then
        local all = (o.need - o.has) / o.weight <= each
        local more = all and o.need - o.has or each * o.weight
        o.has, left = all and o.need or o.has + more, left - more
      end
    end
    if each < least then return 0 end
  end
  return math.max(0, left)
end

-- within divides what a class has between its small calls and the vectors that collect.
local function within(o, r)
  local shares, small = 0, { need = o.c.n, has = 0, weight = 1 }
  for _, v in ipairs(o.vectors) do shares = shares + v.share end
  local scale = shares > o.share and o.share / shares or 1
  local claims, sure = { small }, 0
  for _, v in ipairs(o.vectors) do
    claims[#claims + 1] = { need = r, has = v.share * scale * r, weight = 1, vector = v }
    sure = sure + v.share * scale * r
  end
  small.has = math.min(small.need, math.max(0, o.share * r - sure))
  spread(claims, o.has - small.has - sure)
  o.c.part = small.has
  for i = 2, #claims do claims[i].vector.rate = claims[i].has end
end

-- divide works out what each class has of a budget in a second; of slots, how many.
local function divide(b)
  local r = b.slots and math.max(0, b.B - math.min(b.burst, b.B / 2)) or rate(b)
  local claims, of = {}, {}
  b.shares, b.unlent = 0, false
  for name, c in pairs(b.classes) do
    if c.k == 0 and acct.v - c.at > QUIET then
      b.classes[name] = nil
    else
      local o = { c = c, need = c.n, has = 0, weight = c.w, vectors = {} }
      claims[#claims + 1], of[name] = o, o
      b.shares, b.unlent = b.shares + c.s, b.unlent or c.u * c.s > 0
    end
  end
  for key, v in pairs(b.collect) do
    local o = of[v.class]
    if not o or acct.v - v.seen > STALE then
      b.collect[key] = nil
    else
      o.vectors[#o.vectors + 1], o.need = v, r
    end
  end
  local left, waits = r, {}
  for _, o in ipairs(claims) do
    o.share = o.c.s / math.max(1, b.shares)
    o.has = math.min(o.need, o.share * r)
    left = left - math.max(o.has, o.c.u * o.share * r)
    if o.need > 0 then waits[#waits + 1] = o end
  end
  b.spare = spread(waits, math.max(0, left))
  for _, o in ipairs(claims) do within(o, r) end
end

-- fair is what the small calls of one class of a drawer may have: an equal part of the class's, or what the others of it do
-- not need.
local function fair(b, l, name)
  local c, mine = b.classes[name], l.c[name]
  if not c then return 0 end
  local need, others = mine and mine.need or 0, c.k - (mine and 1 or 0)
  return math.max(0, c.part / (others + 1), c.part + b.spare - (c.n - need))
end

