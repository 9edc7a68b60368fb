/** The storages of the browser: that of this tab, which no other tab sees and which ends with the tab, and that of all its tabs. */
import { objectIn } from '../../../core/src/answers.ts'

export type BrowserStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>

/** Returns the storage, or one that ends with the page where the settings of the browser forbid it. */
function open(find: () => Storage): BrowserStorage {
  try {
    return find()
  } catch {
    const items = new Map<string, string>()
    return {
      getItem: (name) => items.get(name) ?? null,
      setItem: (name, value) => void items.set(name, value),
      removeItem: (name) => void items.delete(name),
    }
  }
}

export const tabStorage = open(() => sessionStorage)
export const sharedStorage = open(() => localStorage)

/** Returns the JSON object of an item, or undefined for anything else: other programs of the same host may write there too. */
export const readObject = (storage: BrowserStorage, name: string): object | undefined =>
  objectIn(storage.getItem(name) ?? '')
