/** Writes the field selector with which clients find keys on the server. */

/** Returns the selector of the keys of an owner and a maker. The separators of selectors are escaped in values. */
export const keySelector = ({
  owner,
  maker,
  makerUid,
}: Partial<Record<'owner' | 'maker' | 'makerUid', string | undefined>>): string =>
  Object.entries({ 'status.owner': owner, 'status.madeWith.name': maker, 'status.madeWith.uid': makerUid })
    .flatMap(([field, value]) => (value === undefined ? [] : `${field}=${value.replaceAll(/[\\,=]/g, '\\$&')}`))
    .join()
