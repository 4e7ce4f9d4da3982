import { growth } from "./zh/growth";
import { pages } from "./zh/pages";
import { shared } from "./zh/shared";

/** All Chinese texts. */
export const zh = { ...shared, ...pages, ...growth };
