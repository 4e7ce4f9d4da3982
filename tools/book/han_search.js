// Searches the book for Chinese. mdBook's own search splits a text at blanks and strips everything but Latin letters from
// the words of a query, so it finds no Chinese at all. A query with Han characters is answered here instead: each part of a
// page is scored by the pairs of neighbouring characters that it shares with the query, as well as by its Latin words.
'use strict';

(function () {
    const HAN = /\p{Script=Han}/u;
    const RUNS = /\p{Script=Han}+|[\p{L}\p{N}_-]+/gu;
    // Words of a question that say nothing about its subject.
    const FILLERS = /为什么|怎么样|怎么|怎样|如何|什么|哪里|可以|能不能|是否|请问|[吗呢的了]/gu;
    // Less than this share of the query's terms is no answer.
    const MIN_SHARE = 0.5;
    const TITLE_WEIGHT = 4;
    const TEASER_CHARS = 60;

    /** Returns the terms of a text: pairs of Han characters, or one that stands alone, and Latin words. */
    function terms(text) {
        const found = new Set();
        for (const [run] of text.toLowerCase().matchAll(RUNS)) {
            const chars = [...run];
            if (!HAN.test(run) || chars.length === 1) {
                found.add(run);
                continue;
            }
            chars.slice(1).forEach((char, at) => found.add(chars[at] + char));
        }
        return [...found];
    }

    /** Counts how often a term occurs, up to three times: more says nothing new. */
    function count(text, term) {
        return Math.min(text.split(term).length - 1, 3);
    }

    /** Returns the text around the first passage of the query, with blanks around it so that mdBook marks it. */
    function teaser(body, query, found) {
        const passage = body.includes(query) ? query : found.find(term => body.includes(term));
        if (!passage) {
            return body.slice(0, 2 * TEASER_CHARS);
        }
        const at = body.indexOf(passage);
        const before = body.slice(Math.max(0, at - TEASER_CHARS), at);
        const after = body.slice(at + passage.length, at + passage.length + TEASER_CHARS);
        return `${at > TEASER_CHARS ? '… ' : ''}${before} ${passage} ${after} …`;
    }

    function search(docs, query) {
        const subject = terms(query.replace(FILLERS, ' '));
        const wanted = subject.length > 0 ? subject : terms(query);
        const parts = Object.values(docs).map(doc => {
            const [title, body] = [doc.title.toLowerCase(), doc.body.toLowerCase()];
            const hits = wanted.map(term => TITLE_WEIGHT * count(title, term) + count(body, term));
            return {doc, hits, found: wanted.filter((_, at) => hits[at] > 0)};
        });
        const with_term = at => parts.filter(part => part.hits[at] > 0).length;
        const rarity = wanted.map((_, at) => Math.log(1 + parts.length / (1 + with_term(at))));
        const score = part =>
            part.hits.reduce((sum, hit, at) => sum + hit * rarity[at], 0) * part.found.length / wanted.length;
        return parts
            .filter(part => part.found.length > 0 && part.found.length >= MIN_SHARE * wanted.length)
            .map(part => ({
                ref: part.doc.id,
                score: score(part),
                doc: {...part.doc, body: teaser(part.doc.body, query, part.found)},
            }))
            .sort((one, other) => other.score - one.score);
    }

    if (!window.elasticlunr) {
        return;
    }
    const plain = window.elasticlunr.Index.prototype.search;
    window.elasticlunr.Index.prototype.search = function (query, options) {
        return HAN.test(query) ? search(this.documentStore.docs, query) : plain.call(this, query, options);
    };
})();
