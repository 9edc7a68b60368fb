/** Writes the field selector with which clients find keys on the server. */

/** Returns the selector of the keys of an owner, a maker and with a value that ends so. The separators of selectors are escaped in values. */
export const keySelector = ({
  owner,
  maker,
  makerUid,
  ending,
}: Partial<Record<'owner' | 'maker' | 'makerUid' | 'ending', string | undefined>>): string =>
  Object.entries({
    'status.owner': owner,
    'status.hint': ending,
    'status.madeWith.name': maker,
    'status.madeWith.uid': makerUid,
  })
    .flatMap(([field, value]) => (value === undefined ? [] : `${field}=${value.replaceAll(/[\\,=]/g, '\\$&')}`))
    .join()
