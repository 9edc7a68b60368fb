/** YAML that a test receives, as a client's own parser reads it. */
import { load } from 'js-yaml'

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape.
export const parseYaml = async (text: string): Promise<any> => load(text)
