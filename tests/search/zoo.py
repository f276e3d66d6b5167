"""A zoo: numbers, dates, counts, yes and no, a chain of places, feedings without names."""

ZOO = """
@prefix : <https://zoo.example/> .
@prefix z: <https://zoo.example/terms#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

z:Animal rdfs:label "animal"@en, "Tier"@de . z:Mammal rdfs:label "mammal"@en, "Säugetier"@de ;
    rdfs:subClassOf z:Animal .
z:Bird rdfs:label "bird"@en, "Vogel"@de ; rdfs:subClassOf z:Animal .
z:Keeper rdfs:label "keeper"@en, "Pfleger"@de .
z:Enclosure rdfs:label "enclosure"@en, "Gehege"@de .
z:Park rdfs:label "park"@en . z:Feeding rdfs:label "feeding"@en . z:Food rdfs:label "food"@en .
z:weight rdfs:label "weight"@en, "Gewicht"@de .
z:born rdfs:label "birth date"@en, "Geburtsdatum"@de .
z:livesIn rdfs:label "lives in"@en, "lebt in"@de . z:caredBy rdfs:label "cared for by"@en .
z:eats rdfs:label "eats"@en, "frisst"@de . z:surface rdfs:label "surface area"@en .
z:partOf rdfs:label "part of"@en . z:opened rdfs:label "opening year"@en .
z:fedAnimal rdfs:label "animal"@en . z:fedBy rdfs:label "fed by"@en .
z:day rdfs:label "day"@en . z:amount rdfs:label "amount"@en .
z:endangered rdfs:label "endangered"@en . z:hired rdfs:label "hired on"@en .
z:email rdfs:label "email"@en .

:Kito a z:Mammal, z:Animal ; rdfs:label "Kito" ; z:endangered true ;
    z:weight 190.5 ; z:born "2012-03-04"^^xsd:date ;
    z:livesIn :Rock ; z:caredBy :Mara ; z:eats :Meat .
:Tara a z:Mammal, z:Animal ; rdfs:label "Tara" ; z:endangered true ;
    z:weight 130.0 ; z:born "2014-07-19"^^xsd:date ;
    z:livesIn :Rock ; z:caredBy :Mara ; z:eats :Meat, :Fish .
:Humbo a z:Mammal, z:Animal ; rdfs:label "Humbo" ; z:endangered true ;
    z:weight 4200.0 ; z:born "1998-01-30"^^xsd:date ;
    z:livesIn :Hall ; z:caredBy :Otto ; z:eats :Hay .
:Pip a z:Bird, z:Animal ; rdfs:label "Pip" ; z:endangered false ;
    z:weight 4.5 ; z:born "2019-05-06"^^xsd:date ;
    z:livesIn :Pool ; z:caredBy :Mara ; z:eats :Fish .
:Pep a z:Bird, z:Animal ; rdfs:label "Pep" ; z:endangered false ;
    z:weight 5.5 ; z:born "2020-11-12"^^xsd:date ;
    z:livesIn :Pool ; z:caredBy :Lena ; z:eats :Fish .
:Pup a z:Bird, z:Animal ; rdfs:label "Pup" ; z:endangered false ;
    z:weight 6.5 ; z:born "2016-12-31"^^xsd:date ;
    z:livesIn :Pool ; z:eats :Fish, :Seeds .
:Mara a z:Keeper ; rdfs:label "Mara Lindqvist" ; z:hired "2005-02-01"^^xsd:date ; z:email "m@z.ex" .
:Otto a z:Keeper ; rdfs:label "Otto Brandt" ; z:hired "1999-09-15"^^xsd:date .
:Lena a z:Keeper ; rdfs:label "Lena Novak" ; z:hired "2018-06-01"^^xsd:date ; z:email "l@z.ex" .
:Rock a z:Enclosure ; rdfs:label "Lion Rock" ; z:surface 800 ; z:partOf :Savannah ;
    z:opened "1990"^^xsd:gYear .
:Hall a z:Enclosure ; rdfs:label "Elephant Hall" ; z:surface 2500 ; z:partOf :Savannah ;
    z:opened "2008"^^xsd:gYear .
:Pool a z:Enclosure ; rdfs:label "Penguin Pool" ; z:surface 300 ; z:partOf :Coast ;
    z:opened "2015"^^xsd:gYear .
:Cave a z:Enclosure ; rdfs:label "Bat Cave" ; z:surface 120 ; z:partOf :Coast ;
    z:opened "2021"^^xsd:gYear .
:Savannah a z:Park ; rdfs:label "Savannah Valley" ; z:partOf :SouthPark .
:Coast a z:Park ; rdfs:label "Rocky Coast" ; z:partOf :SouthPark .
:SouthPark a z:Park ; rdfs:label "South Park" ; z:partOf :Zoo .
:Zoo a z:Park ; rdfs:label "Hillside Zoo" .
:Meat a z:Food ; rdfs:label "meat"@en, "Fleisch"@de . :Fish a z:Food ; rdfs:label "fish"@en .
:Hay a z:Food ; rdfs:label "hay"@en . :Seeds a z:Food ; rdfs:label "seeds"@en .
:f1 a z:Feeding ; z:fedAnimal :Kito ; z:fedBy :Mara ; z:day "2024-05-01"^^xsd:date ; z:amount 7 .
:f2 a z:Feeding ; z:fedAnimal :Kito ; z:fedBy :Lena ; z:day "2024-05-02"^^xsd:date ; z:amount 6 .
:f3 a z:Feeding ; z:fedAnimal :Pip ; z:fedBy :Otto ; z:day "2024-05-01"^^xsd:date ; z:amount 1 .
:f4 a z:Feeding ; z:fedAnimal :Humbo ; z:fedBy :Otto ; z:day "2024-05-02"^^xsd:date ; z:amount 90 .
"""

QUESTIONS: tuple[tuple[str, str, str], ...] = (
    # operator, question, rows: columns by spaces, rows by commas, a column's order as asked
    ("fact", "What is the weight of Kito?", "190.5"),
    ("fact", "When was Tara born?", "2014-07-19"),
    ("fact", "What does Tara eat?", "Meat, Fish"),
    ("class", "Which parks are there?", "Savannah, Coast, SouthPark, Zoo"),
    ("request", "Can you show me every keeper?", "Mara, Otto, Lena"),
    ("request", "Could you list all the parks you have?", "Savannah, Coast, SouthPark, Zoo"),
    ("idle", "How many birds have there been so far?", "3"),
    ("idle", "Wie viele Vögel gab es bis heute?", "3"),
    ("idle", "What are the different parks?", "Savannah, Coast, SouthPark, Zoo"),
    ("two hops", "What is the surface area of the enclosure that Kito lives in?", "800"),
    ("star", "Which birds are cared for by Mara Lindqvist?", "Pip"),
    ("count", "How many animals live in Penguin Pool?", "3"),
    ("count", "How many birds are there?", "3"),
    ("rate", "animals per enclosure", "Rock 2, Hall 1, Pool 3"),
    ("rate", "births per year", "1998 1, 2012 1, 2014 1, 2016 1, 2019 1, 2020 1"),
    (
        "rate",
        "How many animals were born per year?",
        "1998 1, 2012 1, 2014 1, 2016 1, 2019 1, 2020 1",
    ),
    ("sum", "What is the total weight of all birds?", "16.5"),
    ("average", "What is the average weight of the birds?", "5.5"),
    ("average", "What is the average number of animals per enclosure?", "2"),
    ("average", "How many animals live in each enclosure on average?", "2"),
    ("minimum", "What is the minimum weight of a bird?", "4.5"),
    ("maximum", "What is the maximum weight of a mammal?", "4200"),
    ("superlative number", "Which animal has the highest weight?", "Humbo"),
    ("superlative number", "Which bird is the lightest?", "Pip"),
    ("superlative number", "Which enclosure has the smallest surface area?", "Cave"),
    ("superlative date", "Which animal is the oldest?", "Humbo"),
    ("superlative date", "Which animal is the youngest?", "Pep"),
    ("superlative date", "Which keeper was hired first?", "Otto"),
    ("superlative count", "Which enclosure has the most animals?", "Pool"),
    ("superlative count", "Which keeper cares for the most animals?", "Mara"),
    ("comparison number", "Which animals have a weight of more than 150?", "Kito, Humbo"),
    ("comparison number", "Which animals have a weight below 5?", "Pip"),
    ("comparison number", "Which enclosures have a surface area of at least 800?", "Rock, Hall"),
    ("comparison date", "Which animals were born after 2015?", "Pip, Pep, Pup"),
    ("comparison date", "Which keepers were hired before 2001?", "Otto"),
    ("comparison entity", "Which animals are heavier than Tara?", "Kito, Humbo"),
    ("comparison entity", "Which animals are older than Kito?", "Humbo"),
    ("ask", "Is Pip a bird?", "true"),
    ("ask", "Is Kito a bird?", "false"),
    ("ask", "Does Humbo live in the Elephant Hall?", "true"),
    ("ask", "Does Humbo eat fish?", "false"),
    ("yes and no", "Which animals are endangered?", "Kito, Tara, Humbo"),
    ("yes and no", "How many animals are endangered?", "3"),
    ("yes and no", "Is Pip endangered?", "false"),
    ("yes and no", "Is Tara endangered?", "true"),
    ("each", "How many animals live in each enclosure?", "Rock 2, Hall 1, Pool 3"),
    (
        "each",
        "What is the average weight of the animals per enclosure?",
        "Rock 160.25, Hall 4200, Pool 5.5",
    ),
    ("having", "Which enclosures have more than one animal?", "Rock, Pool"),
    ("top n", "What are the three heaviest animals?", "Humbo, Kito, Tara"),
    ("nth", "What is the second heaviest animal?", "Kito"),
    ("order", "List all birds ordered by weight.", "Pip, Pep, Pup"),
    ("order", "List all birds sorted by weight in descending order.", "Pup, Pep, Pip"),
    ("negation", "Which enclosures have no animals?", "Cave"),
    ("negation", "Which animals are not cared for by a keeper?", "Pup"),
    ("negation", "Which keepers have no email?", "Otto"),
    ("negation", "Which birds do not eat seeds?", "Pip, Pep"),
    ("both", "Which animals eat both fish and meat?", "Tara"),
    ("or", "Which animals eat hay or seeds?", "Humbo, Pup"),
    ("either", "Which animals eat either meat or hay?", "Kito, Tara, Humbo"),
    ("columns", "What are the weight and the birth date of Kito?", "190.5 2012-03-04"),
    ("columns", "What are the birth date and the weight of Kito?", "2012-03-04 190.5"),
    ("interval", "Which animals were born between 2012 and 2016?", "Kito, Tara, Pup"),
    ("interval", "Which animals have a weight between 5 and 150?", "Tara, Pep, Pup"),
    ("interval", "Which animals were born in 2019?", "Pip"),
    ("interval", "Which keepers were hired since 2005?", "Mara, Lena"),
    ("interval", "Which enclosures were opened in the 1990s?", "Rock"),
    ("transitive", "Which enclosures are part of Hillside Zoo?", "Rock, Hall, Pool, Cave"),
    ("n-ary", "Who fed Kito on 2 May 2024?", "Lena"),
    ("n-ary", "Which animals were fed by Otto Brandt?", "Pip, Humbo"),
    ("n-ary", "What amount was fed to Pip?", "1"),
    ("composed", "How many animals live in enclosures that are part of Savannah Valley?", "3"),
    ("composed", "How many birds have a weight of more than 5?", "2"),
    ("composed", "What is the total weight of the animals that eat fish?", "146.5"),
    ("composed", "Which is the heaviest bird born before 2020?", "Pup"),
    ("German", "Wie viele Tiere leben in Penguin Pool?", "3"),
    ("German", "Welches Tier ist am schwersten?", "Humbo"),
    ("German", "Welche Tiere wurden nach 2015 geboren?", "Pip, Pep, Pup"),
)
