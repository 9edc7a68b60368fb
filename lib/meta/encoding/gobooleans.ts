/** Parses a flag of a query like Go's conversion of queries: every value except `false` and `0` is true, also the empty one. */
export const parseQueryFlag = (value: string): boolean => !['false', '0'].includes(value.toLowerCase())
