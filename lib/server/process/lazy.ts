/** Returns a function that creates a value on its first call and returns the same value from then on. */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Functions that make the parts of P. */
export type Makers<P> = { readonly [K in keyof P]: () => P[K] }

/** Returns an object with the members of `base` and its own, and with parts that are made on their first use. */
export function withParts<B extends object, O extends object, P extends object = object>(
  base: B,
  own: O,
  makers: Makers<P> = {} as Makers<P>,
): B & O & P {
  const all: [string, () => unknown][] = Object.entries(makers)
  const parts = all.map(([name, make]) => [name, { get: lazy(make), enumerable: true }])
  return Object.create(base, { ...Object.getOwnPropertyDescriptors(own), ...Object.fromEntries(parts) })
}
