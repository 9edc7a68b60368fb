/** Parses YAML answers with a client's parser. */
import { load } from 'js-yaml'

// biome-ignore lint/suspicious/noExplicitAny: tests look into documents of every shape.
export const parseYaml = async (text: string): Promise<any> => load(text)
