import { growth } from "./en/growth";
import { pages } from "./en/pages";
import { shared } from "./en/shared";

/** All English texts. */
export const en = { ...shared, ...pages, ...growth };
