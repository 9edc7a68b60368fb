/** The storage of this tab, which no other tab sees and which ends with the tab. */

export type TabStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Returns sessionStorage, or a storage that ends with the page where the settings of the browser forbid it. */
function open(): TabStorage {
  try {
    return sessionStorage
  } catch {
    const items = new Map<string, string>()
    return {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    }
  }
}

export const tabStorage = open()

/** Returns the JSON object of an item, or undefined for anything else: other programs of the same host may write there too. */
export function readObject(storage: TabStorage, name: string): object | undefined {
  try {
    const value: unknown = JSON.parse(storage.getItem(name) ?? 'null')
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
